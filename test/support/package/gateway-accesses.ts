import type { Asking } from './cloudformation-asking.ts'
import { type Named, nameOf } from './cloudformation-names.ts'
import type { Access } from './iam-accesses.ts'

/** Id of the one REST API, which API Gateway makes up. */
const REST_API = 'a1b2c3d4e5'
const VERBS = 'GET POST PUT PATCH DELETE'

/** What CloudFormation asks for on behalf of a resource of API Gateway, or of what belongs to it. */
export function accessesOfGateway(asking: Asking, stack: Named): Access[] {
  const { Type, Properties, on, name, gateway, refOf, pass } = asking
  const inApi = () => on(gateway(`/restapis/${REST_API}/parts`), 'apigateway', VERBS)
  const tags = () => on(gateway('/tags/arn'), 'apigateway', 'GET PUT DELETE')
  switch (Type) {
    case 'AWS::ApiGateway::Account':
      return [
        ...on(gateway('/account'), 'apigateway', 'GET PATCH'),
        ...pass(Properties.CloudWatchRoleArn, 'apigateway'),
      ]
    case 'AWS::ApiGateway::RestApi':
      return [
        ...on(gateway('/restapis'), 'apigateway', 'POST'),
        ...on(gateway(`/restapis/${REST_API}`), 'apigateway', 'GET PUT PATCH DELETE'),
        ...tags(),
      ]
    case 'AWS::ApiGateway::Deployment':
    case 'AWS::ApiGateway::GatewayResponse':
    case 'AWS::ApiGateway::Method':
    case 'AWS::ApiGateway::Resource':
      return inApi()
    case 'AWS::ApiGateway::Stage':
      return [
        ...inApi(),
        ...tags(),
        // For access logs.
        ...on(
          '*',
          'logs',
          'CreateLogDelivery DeleteLogDelivery DescribeLogGroups DescribeResourcePolicies GetLogDelivery ListLogDeliveries PutResourcePolicy UpdateLogDelivery',
        ),
      ]
    case 'AWS::ApiGateway::DomainName':
      return [
        ...on(gateway('/domainnames'), 'apigateway', 'POST'),
        ...on(gateway(`/domainnames/${name()}`), 'apigateway', 'GET PATCH DELETE'),
        ...tags(),
        // Once in an account.
        ...on(
          `arn:aws:iam::${stack.account}:role/aws-service-role/ops.apigateway.amazonaws.com/AWSServiceRoleForAPIGateway`,
          'iam',
          'CreateServiceLinkedRole',
          { 'iam:AWSServiceName': 'ops.apigateway.amazonaws.com' },
        ),
      ]
    case 'AWS::ApiGateway::BasePathMapping': {
      const path = `/domainnames/${nameOf(refOf(Properties.DomainName), stack)}/basepathmappings`
      return on(gateway(path), 'apigateway', VERBS)
    }
    case 'AWS::Route53::RecordSet':
      return [
        ...on(
          `arn:aws:route53:::hostedzone/${Properties.HostedZoneId}`,
          'route53',
          'ChangeResourceRecordSets GetHostedZone ListResourceRecordSets',
        ),
        ...on('arn:aws:route53:::change/C123', 'route53', 'GetChange'),
      ]
    case 'AWS::WAFv2::WebACLAssociation':
      return [
        ...on(Properties.WebACLArn, 'wafv2', 'AssociateWebACL DisassociateWebACL GetWebACL GetWebACLForResource'),
        ...on(gateway(`/restapis/${REST_API}/stages/prod`), 'wafv2', 'AssociateWebACL DisassociateWebACL'),
        ...on(gateway(`/restapis/${REST_API}/stages/prod`), 'apigateway', 'SetWebACL'),
      ]
    default:
      throw new Error(`${Type} is new: say in test/support/package what it takes`)
  }
}
