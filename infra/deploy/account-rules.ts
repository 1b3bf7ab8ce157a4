import type { Template } from './template.ts'

/** Every parameter with its value; '' when it is not given. */
export type Settings = Readonly<Record<string, string>>

/** Applies what an account demands of all its resources. By type, so that what is added to the template complies. */
export function applyAccountRules({ Resources }: Template, settings: Settings): void {
  const { rolePath, permissionsBoundaryArn, operationsKmsKeyArn } = settings
  const demands: Record<string, Record<string, string | undefined>> = {
    'AWS::IAM::Role': { Path: rolePath, PermissionsBoundary: permissionsBoundaryArn },
    'AWS::Logs::LogGroup': { KmsKeyId: operationsKmsKeyArn },
    'AWS::SNS::Topic': { KmsMasterKeyId: operationsKmsKeyArn },
  }
  for (const { Type, Properties } of Object.values(Resources)) {
    for (const [name, value] of Object.entries(demands[Type] ?? {})) if (value) Properties[name] = value
  }
}

/** `team=files,costCenter=123` → an object; what the service itself is tagged with comes first. */
export function tagsOf({ tags = '' }: Settings, own: { service: string; stage: string }): Record<string, string> {
  const pairs = tags.split(',').filter((pair) => pair.trim() !== '')
  return { ...own, ...Object.fromEntries(pairs.map((pair) => pair.split('=').map((part) => part.trim()))) }
}
