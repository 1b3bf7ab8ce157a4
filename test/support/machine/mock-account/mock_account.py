"""A mock AWS account: moto's server with what it lacks of CloudFormation.

moto knows neither deletion policies nor rollbacks, deploys in an order of its own, and has no model of some resource types.
What is added here follows the AWS documentation: "DeletionPolicy attribute", "Stack failure options", "AWS::Lambda::Version",
"Monitoring deployments with CloudWatch alarms in CodeDeploy".

    python3 mock_account.py PORT FAILING

FAILING is a file: resources whose logical ids it lists, one a line, cannot be created. Listens on 127.0.0.1 only.
"""

import functools
import json
import os
import re
import secrets
import sys
import threading
import time
from urllib.parse import unquote

import boto3
from moto.apigateway.models import Method, apigateway_backends
from moto.awslambda import models as awslambda
from moto.awslambda import urls as awslambda_urls
from moto.awslambda.models import EventSourceMapping
from moto.awslambda.responses import LambdaResponse
from moto.cloudformation import models as cloudformation
from moto.cloudformation import parsing, responses
from moto.core.common_models import CloudFormationModel
from moto.core.responses import ActionResult
from moto.dynamodb.models import DynamoDBBackend, dynamodb_backends
from moto.dynamodb.models.table import Table
from moto.dynamodb.responses import DynamoHandler
from moto.iam.access_control import PermissionResult
from moto.iam.models import Role
from moto.s3.exceptions import PreconditionFailed, S3ClientError
from moto.s3.models import FakeBucket, s3_backends
from moto.s3.responses import S3Response

PORT, FAILING = int(sys.argv[1]), sys.argv[2]
# Files stay in memory, whatever their size.
os.environ["MOTO_S3_DEFAULT_KEY_BUFFER_SIZE"] = str(2**30)
KEPT = {"Retain", "RetainExceptOnCreate"}


# Resource types that moto has no model of


class Placeholder(CloudFormationModel):
    """Is there, by its name; its attributes are made up."""

    # moto registers its models under the service that it reads out of their module.
    __module__ = "moto.cloudformation"

    NAMES = ("StageName", "DashboardName", "ApplicationName", "DeploymentGroupName")

    def __init__(self, name, properties):
        self.physical_resource_id = next((properties[key] for key in self.NAMES if key in properties), name)
        self.name = name

    @classmethod
    def has_cfn_attr(cls, attr):
        return True

    def get_cfn_attribute(self, attribute_name):
        return f"{self.name}.{attribute_name}"

    @classmethod
    def create_from_cloudformation_json(cls, resource_name, cloudformation_json, account_id, region_name, **kwargs):
        properties = cloudformation_json.get("Properties", {})
        cls.apply(properties, account_id, region_name)
        return cls(resource_name, properties)

    @classmethod
    def update_from_cloudformation_json(cls, original_resource, new_resource_name, cloudformation_json, account_id, region_name):
        cls.apply(cloudformation_json.get("Properties", {}), account_id, region_name)
        return original_resource

    @classmethod
    def apply(cls, properties, account_id, region_name):
        """What creating and updating it does elsewhere."""

    def delete(self, account_id, region_name):
        """Nothing holds it."""


class DeploymentGroup(Placeholder):
    __module__ = "moto.cloudformation"

    by_id = {}

    def __init__(self, name, properties):
        super().__init__(name, properties)
        self.physical_resource_id = name

    @classmethod
    def create_from_cloudformation_json(cls, resource_name, cloudformation_json, account_id, region_name, **kwargs):
        group = super().create_from_cloudformation_json(resource_name, cloudformation_json, account_id, region_name)
        cls.by_id[group.physical_resource_id] = group.heed(cloudformation_json["Properties"]["AlarmConfiguration"])
        return group

    @classmethod
    def update_from_cloudformation_json(cls, original_resource, new_resource_name, cloudformation_json, account_id, region_name):
        return original_resource.heed(cloudformation_json["Properties"]["AlarmConfiguration"])

    def heed(self, configuration):
        enabled = str(configuration["Enabled"]).lower() == "true"
        self.alarms = [alarm["Name"] for alarm in configuration["Alarms"]] if enabled else []
        return self

    def alarms_on(self, region_name):
        if not self.alarms:
            return []
        described = api_of("cloudwatch", region_name).describe_alarms(AlarmNames=self.alarms)["MetricAlarms"]
        return [alarm["AlarmName"] for alarm in described if alarm["StateValue"] == "ALARM"]


class Alias(Placeholder):
    """Gets another version by CodeDeploy, which stops while an alarm of the group is on."""

    __module__ = "moto.cloudformation"

    is_taken_back = False

    def __init__(self, name, properties):
        super().__init__(name, properties)
        self.function_name, self.alias, self.version = properties["FunctionName"], properties["Name"], str(properties["FunctionVersion"])

    @classmethod
    def create_from_cloudformation_json(cls, resource_name, cloudformation_json, account_id, region_name, **kwargs):
        alias = cls(resource_name, cloudformation_json["Properties"])
        backend = awslambda.lambda_backends[account_id][region_name]
        alias.physical_resource_id = backend.create_alias(alias.alias, alias.function_name, alias.version, "", None).arn
        return alias

    @classmethod
    def update_from_cloudformation_json(cls, original_resource, new_resource_name, cloudformation_json, account_id, region_name):
        alias, backend = original_resource, awslambda.lambda_backends[account_id][region_name]
        version = str(cloudformation_json["Properties"]["FunctionVersion"])
        if version == alias.version:
            return alias
        group = cloudformation_json["UpdatePolicy"]["CodeDeployLambdaAliasUpdate"]["DeploymentGroupName"]
        on = [] if cls.is_taken_back else DeploymentGroup.by_id[group].alarms_on(region_name)
        if on:
            raise RuntimeError(f"the deployment was stopped: alarms are on ({', '.join(on)})")
        backend.update_alias(alias.alias, alias.function_name, version, None, None)
        alias.version = version
        return alias

    def delete(self, account_id, region_name):
        awslambda.lambda_backends[account_id][region_name].delete_alias(self.alias, self.function_name)


class GatewayAccount(Placeholder):
    __module__ = "moto.cloudformation"

    @classmethod
    def apply(cls, properties, account_id, region_name):
        apigateway_backends[account_id][region_name].account.cloudwatch_role_arn = properties["CloudWatchRoleArn"]


class BucketPolicy(Placeholder):
    __module__ = "moto.cloudformation"

    @classmethod
    def apply(cls, properties, account_id, region_name):
        policy = json.dumps(properties["PolicyDocument"]).encode()
        s3_backends[account_id]["aws"].put_bucket_policy(properties["Bucket"], policy)


class Version(Placeholder):
    __module__ = "moto.cloudformation"

    def __init__(self, name, properties, version):
        super().__init__(name, properties)
        self.function_name, self.version = properties["FunctionName"], str(version)

    def get_cfn_attribute(self, attribute_name):
        return self.version

    @classmethod
    def create_from_cloudformation_json(cls, resource_name, cloudformation_json, account_id, region_name, **kwargs):
        properties = cloudformation_json["Properties"]
        name, backend = properties["FunctionName"], awslambda.lambda_backends[account_id][region_name]
        storage = backend._lambdas._functions[name]
        latest = storage["latest"]
        content = (latest.code_sha_256, str(sorted((latest.environment_vars or {}).items())), latest.memory_size)
        for published in storage["versions"]:
            if getattr(published, "content", None) == content and published is storage["versions"][-1]:
                raise RuntimeError(f"A version for this Lambda function exists ( {published.version} ). Modify the function to create a new version.")
        latest.code_or_config_updated = True
        published = backend.publish_version(name)
        published.content = content
        return cls(resource_name, properties, published.version)

    def delete(self, account_id, region_name):
        awslambda.lambda_backends[account_id][region_name].delete_function(f"{self.function_name}:{self.version}")


# What moto's models leave out of the properties of a resource: set by its own API, once the resource is there


@functools.cache
def api_of(service, region_name):
    return boto3.client(
        service,
        region_name=region_name,
        endpoint_url=f"http://127.0.0.1:{PORT}",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )


class WholeTable(Table):
    __module__ = "moto.cloudformation"

    @classmethod
    def create_from_cloudformation_json(cls, resource_name, cloudformation_json, account_id, region_name, **kwargs):
        table = super().create_from_cloudformation_json(resource_name, cloudformation_json, account_id, region_name, **kwargs)
        properties, dynamodb = cloudformation_json["Properties"], api_of("dynamodb", region_name)
        table.sse_specification["Enabled"] = table.sse_specification.pop("SSEEnabled")
        recovery, expiry = properties.get("PointInTimeRecoverySpecification"), properties.get("TimeToLiveSpecification")
        if recovery:
            dynamodb.update_continuous_backups(TableName=table.name, PointInTimeRecoverySpecification=recovery)
        if expiry:
            dynamodb.update_time_to_live(TableName=table.name, TimeToLiveSpecification=expiry)
        return table


class WholeBucket(FakeBucket):
    __module__ = "moto.cloudformation"

    @classmethod
    def create_from_cloudformation_json(cls, resource_name, cloudformation_json, account_id, region_name, **kwargs):
        bucket = super().create_from_cloudformation_json(resource_name, cloudformation_json, account_id, region_name, **kwargs)
        properties, s3 = cloudformation_json.get("Properties", {}), api_of("s3", region_name)
        if "PublicAccessBlockConfiguration" in properties:
            block = properties["PublicAccessBlockConfiguration"]
            s3.put_public_access_block(Bucket=bucket.name, PublicAccessBlockConfiguration=block)
        if "OwnershipControls" in properties:
            s3.put_bucket_ownership_controls(Bucket=bucket.name, OwnershipControls=properties["OwnershipControls"])
        if "VersioningConfiguration" in properties:
            s3.put_bucket_versioning(Bucket=bucket.name, VersioningConfiguration=properties["VersioningConfiguration"])
        if "LifecycleConfiguration" in properties:
            rules = [lifecycle_rule(rule) for rule in properties["LifecycleConfiguration"]["Rules"]]
            s3.put_bucket_lifecycle_configuration(Bucket=bucket.name, LifecycleConfiguration={"Rules": rules})
        return bucket


def lifecycle_rule(rule):
    """What CloudFormation has flat, S3's API has in parts, with numbers as such."""
    rule = json.loads(json.dumps(rule), object_hook=lambda part: {key: number(value) for key, value in part.items()})
    parts = {"ExpiredObjectDeleteMarker": "ExpiredObjectDeleteMarker", "ExpirationInDays": "Days"}
    expiration = {name: rule.pop(flat) for flat, name in parts.items() if flat in rule}
    more = {"Expiration": expiration} if expiration else {}
    return {"ID": rule.pop("Id"), "Filter": {"Prefix": rule.pop("Prefix", "")}, **rule, **more}


def number(value):
    return int(value) if isinstance(value, str) and value.isdigit() else value


class WholeMethod(Method):
    __module__ = "moto.cloudformation"

    @classmethod
    def create_from_cloudformation_json(cls, resource_name, cloudformation_json, account_id, region_name, **kwargs):
        integration = cloudformation_json["Properties"]["Integration"]
        # A mock integration has neither.
        integration.setdefault("IntegrationHttpMethod", "POST")
        integration.setdefault("Uri", "")
        return super().create_from_cloudformation_json(resource_name, cloudformation_json, account_id, region_name, **kwargs)


class Alarm(Placeholder):
    __module__ = "moto.cloudformation"

    def __init__(self, name, properties):
        super().__init__(name, properties)
        self.physical_resource_id = self.alarm = properties["AlarmName"]

    @classmethod
    def apply(cls, properties, account_id, region_name):
        numbers = {key: number(properties[key]) for key in ("Period", "EvaluationPeriods", "DatapointsToAlarm") if key in properties}
        api_of("cloudwatch", region_name).put_metric_alarm(**{**properties, **numbers, "Threshold": float(properties["Threshold"])})

    def delete(self, account_id, region_name):
        api_of("cloudwatch", region_name).delete_alarms(AlarmNames=[self.alarm])


class Mapping(EventSourceMapping):
    """Is there, but does not run: moto would start the function in Docker. stage.ts plays it."""

    __module__ = "moto.cloudformation"

    @classmethod
    def create_from_cloudformation_json(cls, resource_name, cloudformation_json, account_id, region_name, **kwargs):
        mapping = super().create_from_cloudformation_json(resource_name, cloudformation_json, account_id, region_name, **kwargs)
        for table in dynamodb_backends[account_id][region_name].tables.values():
            table.lambda_event_source_mappings.clear()
        return mapping

    @classmethod
    def update_from_cloudformation_json(cls, original_resource, new_resource_name, cloudformation_json, account_id, region_name):
        if original_resource.event_source_arn == cloudformation_json["Properties"]["EventSourceArn"]:
            return super().update_from_cloudformation_json(original_resource, new_resource_name, cloudformation_json, account_id, region_name)
        original_resource.delete(account_id, region_name)
        return cls.create_from_cloudformation_json(new_resource_name, cloudformation_json, account_id, region_name)


put_policy_of_moto = Role.put_policy


def put_policy(self, policy_name, policy_json):
    """The API gives a policy back as text, which it is not when it comes from a template."""
    put_policy_of_moto(self, policy_name, policy_json if isinstance(policy_json, str) else json.dumps(policy_json))


Role.put_policy = put_policy

# moto cannot see TLS, and would take every request for one without it.
FakeBucket.get_permission = lambda self, action, resource: PermissionResult.NEUTRAL


OWN_MODELS = {
    "AWS::CodeDeploy::DeploymentGroup": DeploymentGroup,
    "AWS::Lambda::Alias": Alias,
    "AWS::Lambda::Version": Version,
    "AWS::ApiGateway::Account": GatewayAccount,
    "AWS::S3::Bucket": WholeBucket,
    "AWS::S3::BucketPolicy": BucketPolicy,
    "AWS::DynamoDB::Table": WholeTable,
    "AWS::CloudWatch::Alarm": Alarm,
    "AWS::Lambda::EventSourceMapping": Mapping,
    "AWS::ApiGateway::Method": WholeMethod,
}
class_of_moto = parsing.resource_class_from_type


def resource_class_from_type(resource_type):
    return OWN_MODELS.get(resource_type) or class_of_moto(resource_type) or Placeholder


parsing.resource_class_from_type = resource_class_from_type


# Names that CloudFormation makes: cut, stack name and logical id to their fair shares, before twelve random characters
# (IdentifierUtils of cloudformation-cli-java-plugin)

MAX_LENGTHS = {"AWS::S3::Bucket": 63, "AWS::IAM::Role": 64, "AWS::Events::Rule": 64, "AWS::SQS::Queue": 80}


def generate_resource_name(resource_type, stack_name, logical_id):
    random = "".join(secrets.choice("abcdefghijklmnopqrstuvwxyz0123456789") for _ in range(12))
    free = MAX_LENGTHS.get(resource_type, 100) - len(random) - 2
    of_stack = min(len(stack_name), max(free - free // 2, free - len(logical_id)))
    name = f"{stack_name[:of_stack]}-{logical_id[:free - of_stack]}-{random}"
    return name.lower() if resource_type == "AWS::S3::Bucket" else name


parsing.generate_resource_name = generate_resource_name


# Limits of the account, which moto's Lambda does not report


def get_account_settings(self):
    limit = {"ConcurrentExecutions": 1000, "UnreservedConcurrentExecutions": 1000}
    return 200, {}, json.dumps({"AccountLimit": limit, "AccountUsage": {}})


LambdaResponse.get_account_settings = get_account_settings
awslambda_urls.url_paths[r"{0}/(?P<api_version>[^/]+)/account-settings/?$"] = LambdaResponse.dispatch


# Deployments: in the order of references, with deletion policies, rolled back when a resource fails


def references(value):
    if isinstance(value, list):
        return {found for each in value for found in references(each)}
    if not isinstance(value, dict):
        return set()
    found = references(list(value.values()))
    if isinstance(value.get("Ref"), str):
        found.add(value["Ref"])
    if isinstance(value.get("Fn::GetAtt"), list):
        found.add(value["Fn::GetAtt"][0])
    text = value.get("Fn::Sub")
    text = text[0] if isinstance(text, list) else text
    if isinstance(text, str):
        found.update(re.findall(r"\$\{([A-Za-z0-9]+)", text))
    return found


def in_order(resources):
    done, order = set(), []

    def visit(name):
        if name in done or name not in resources:
            return
        done.add(name)
        depends = resources[name].get("DependsOn", [])
        referred = references([resources[name].get(part, {}) for part in ("Properties", "UpdatePolicy")])
        for each in sorted(referred | set([depends] if isinstance(depends, str) else depends)):
            visit(each)
        order.append(name)

    for name in resources:
        visit(name)
    return order


def failing():
    with open(FAILING) as file:
        return set(file.read().split())


def remove(self, name, resource_json):
    resource = self._parsed_resources.pop(name, None)
    if resource is not None:
        self._delete_resource(resource, resource_json)


def use_template(self, template, parameters):
    self._template = template
    if parameters:
        self.input_parameters = parameters
    self.load_mapping()
    self.load_parameters()
    self.load_conditions()
    self._resource_json_map = template["Resources"]


def update(self, template, parameters=None):
    former = {"template": self._template, "resources": dict(self._resource_json_map)}
    new = template["Resources"]
    use_template(self, template, parameters)
    added = []
    try:
        for name in in_order(new):
            if name not in former["resources"]:
                if name in failing():
                    raise RuntimeError(f"{name} cannot be created here")
                added.append(name)
                _ = self[name]
            elif new[name] != former["resources"][name] or references(new[name]) & set(added):
                parsing.parse_and_update_resource(name, new[name], self, account_id=self._account_id, region_name=self._region_name)
    except Exception as error:
        Alias.is_taken_back = True
        roll_back(self, former, new, added)
        Alias.is_taken_back = False
        raise RolledBack(str(error)) from error
    for name in reversed(in_order(former["resources"])):
        resource_json = former["resources"][name]
        if name not in new and resource_json.get("DeletionPolicy") not in KEPT:
            remove(self, name, resource_json)
        elif name not in new:
            self._parsed_resources.pop(name, None)


def roll_back(self, former, new, added):
    use_template(self, former["template"], None)
    for name in in_order(former["resources"]):
        if name in new and new[name] != former["resources"][name]:
            parsing.parse_and_update_resource(name, former["resources"][name], self, account_id=self._account_id, region_name=self._region_name)
    for name in reversed(added):
        if new[name].get("DeletionPolicy") == "Retain":
            self._parsed_resources.pop(name, None)
            continue
        try:
            remove(self, name, new[name])
        except Exception as error:  # As CloudFormation: what cannot be deleted is skipped, and stays.
            print(f"DELETE_FAILED {name}: {error}", file=sys.stderr)


def delete(self):
    for name in reversed(in_order(self._resource_json_map)):
        if self._resource_json_map[name].get("DeletionPolicy") not in KEPT:
            remove(self, name, self._resource_json_map[name])


# All templates are JSON. moto reads them as YAML, and lints (test/template/cfn-lint.test.ts does that), which takes seconds.
cloudformation.yaml.load = lambda template, Loader: json.loads(template)
cloudformation.CloudFormationBackend.validate_template = lambda self, template: []


class RolledBack(Exception):
    pass


parsing.ResourceMap.update = update
parsing.ResourceMap.delete = delete

execute_of_moto = cloudformation.CloudFormationBackend.execute_change_set


def execute_change_set(self, change_set_name, stack_name=None):
    change_set = self.describe_change_set(change_set_name)
    try:
        execute_of_moto(self, change_set_name, stack_name)
        # A stack has the tags of the last call, and no others.
        self.stacks[change_set.stack_id].tags = change_set.tags
    except RolledBack as error:
        stack = self.stacks[change_set.stack_id]
        stack.status = "UPDATE_ROLLBACK_COMPLETE"
        stack._add_stack_event("UPDATE_ROLLBACK_IN_PROGRESS", resource_status_reason=str(error))
        stack._add_stack_event("UPDATE_ROLLBACK_COMPLETE")


cloudformation.CloudFormationBackend.execute_change_set = execute_change_set

delete_change_set_of_moto = cloudformation.CloudFormationBackend.delete_change_set


def delete_change_set(self, change_set_name):
    """One that is not there is deleted, too."""
    if any(change_set_name in (id, change_set.change_set_name) for id, change_set in self.change_sets.items()):
        delete_change_set_of_moto(self, change_set_name)


cloudformation.CloudFormationBackend.delete_change_set = delete_change_set


# DynamoDB answers UPDATED_NEW with the attributes that the expression sets; moto only with those that have another value now

update_of_moto = DynamoHandler.update_item


def update_item(self):
    if self.body.get("ReturnValues") != "UPDATED_NEW":
        return update_of_moto(self)
    self.body["ReturnValues"] = "ALL_NEW"
    answer = update_of_moto(self)
    words = set(re.findall(r"[#\w]+", self.body.get("UpdateExpression", "")))
    names = words | {name for alias, name in self.body.get("ExpressionAttributeNames", {}).items() if alias in words}
    attributes = answer.result.get("Attributes", {})
    answer.result["Attributes"] = {name: value for name, value in attributes.items() if name in names}
    return answer


DynamoHandler.update_item = update_item

# DynamoDB judges and changes an item in one step; moto's threads lose updates

one_at_a_time, call_of_moto = threading.Lock(), DynamoHandler.call_action


def call_action(self):
    with one_at_a_time:
        return call_of_moto(self)


DynamoHandler.call_action = call_action


# Conditions of copies, and of the size of an upload, which moto ignores


def only_meant(answer):
    def answer_if_meant(self, *given):
        query, key_name = given[-2:]
        source, _, version = self.headers.get("x-amz-copy-source", "").partition("?versionId=")
        found = source and self.backend.get_object(*unquote(source).lstrip("/").split("/", 1), version or None)
        if found and self.headers.get("x-amz-copy-source-if-match", found.etag).strip('"') != found.etag.strip('"'):
            raise PreconditionFailed("x-amz-copy-source-If-Match")
        if source and self.headers.get("If-None-Match") and self.backend.get_object(self.bucket_name, key_name):
            raise PreconditionFailed("If-None-Match")
        upload = self.backend.get_bucket(self.bucket_name).multiparts.get(query.get("uploadId", [""])[0])
        size = upload and sum(part.size for part in upload.parts.values())
        if upload and int(self.headers.get("x-amz-mp-object-size", size)) != size:
            raise S3ClientError("InvalidRequest", "The parts have another size.")
        return answer(self, *given)

    return answer_if_meant


S3Response._key_response_put = only_meant(S3Response._key_response_put)
S3Response._key_response_post = only_meant(S3Response._key_response_post)


# Point-in-time recovery: moto keeps no history and restores what is there now, so the window that it tells ends now


describe_backups_of_moto = DynamoDBBackend.describe_continuous_backups


def describe_continuous_backups(self, table_name):
    described = describe_backups_of_moto(self, table_name)
    recovery = described["PointInTimeRecoveryDescription"]
    if recovery["PointInTimeRecoveryStatus"] == "ENABLED":
        # A deployment here may end in the second in which it has made a table.
        recovery["EarliestRestorableDateTime"] = int(recovery["EarliestRestorableDateTime"])
        recovery["LatestRestorableDateTime"] = time.time()
    return described


restore_of_moto = DynamoHandler.restore_table_to_point_in_time


def restore_table_to_point_in_time(self):
    answer = restore_of_moto(self)
    tables = self.dynamodb_backend.tables
    restored = tables[self.body["TargetTableName"]]
    restored.restore_date_time = self.body["RestoreDateTime"]
    # Encryption settings are the source's (API reference, RestoreTableToPointInTime).
    restored.sse_specification = tables[self.body["SourceTableName"]].sse_specification
    return answer


DynamoDBBackend.describe_continuous_backups = describe_continuous_backups
DynamoHandler.restore_table_to_point_in_time = restore_table_to_point_in_time


# Termination protection


def update_termination_protection(self):
    [stack] = self.cloudformation_backend.describe_stacks(self._get_param("StackName"))
    stack.enable_termination_protection = str(self._get_param("EnableTerminationProtection")).lower() == "true"
    return ActionResult({"StackId": stack.stack_id})


responses.CloudFormationResponse.update_termination_protection = update_termination_protection


if __name__ == "__main__":
    from moto.server import main

    main(["-H", "127.0.0.1", "-p", str(PORT)])
