/**
 * What an account demands of everything that is deployed to it: path and boundary of roles, a key for logs and messages. By type,
 * so that whatever is added to the template follows.
 * @param template the whole CloudFormation template, changed in place
 * @param settings every parameter with its value; '' when it is not demanded
 */
export function applyAccountRules(template, { rolePath, permissionsBoundaryArn, operationsKmsKeyArn }) {
  const demands = {
    'AWS::IAM::Role': { Path: rolePath, PermissionsBoundary: permissionsBoundaryArn },
    'AWS::Logs::LogGroup': { KmsKeyId: operationsKmsKeyArn },
    'AWS::SNS::Topic': { KmsMasterKeyId: operationsKmsKeyArn },
  }
  for (const { Type, Properties } of Object.values(template.Resources)) {
    for (const [name, value] of Object.entries(demands[Type] ?? {})) if (value) Properties[name] = value
  }
  exportRoleArns(template)
}

/** The ARN of each function's role as an output, for the policies of buckets and keys in other hands. */
function exportRoleArns({ Resources, Outputs }) {
  for (const { Type, Properties } of Object.values(Resources)) {
    if (Type !== 'AWS::Lambda::Function') continue
    const role = Properties.Role['Fn::GetAtt']?.[0]
    if (role) Outputs[`${role}Arn`] = { Value: { 'Fn::GetAtt': [role, 'Arn'] } }
  }
}

/** `team=files,costCenter=123` → an object; what the service itself is tagged with comes first. */
export function tagsOf({ tags = '' }, { service, stage }) {
  const own = tags
    .split(',')
    .flatMap((pair) => (pair.trim() === '' ? [] : [pair.split('=').map((part) => part.trim())]))
  return { service, stage, ...Object.fromEntries(own) }
}
