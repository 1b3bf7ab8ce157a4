import { createHash } from 'node:crypto'
import { ofType, rewrite, type Template } from './template.ts'

/** Every parameter with its value; '' when it is not given. */
export type Settings = Readonly<Record<string, string>>

/** Applies what an account demands, by type, so that resources added to the template comply, too. */
export function applyAccountRules(template: Template, settings: Settings): void {
  const { rolePath, permissionsBoundaryArn, operationsKmsKeyArn } = settings
  const demands: Record<string, Record<string, string | undefined>> = {
    'AWS::IAM::Role': { Path: rolePath, PermissionsBoundary: permissionsBoundaryArn },
    'AWS::Logs::LogGroup': { KmsKeyId: operationsKmsKeyArn },
    'AWS::SNS::Topic': { KmsMasterKeyId: operationsKmsKeyArn },
  }
  for (const { Type, Properties } of Object.values(template.Resources)) {
    for (const [name, value] of Object.entries(demands[Type] ?? {})) if (value) Properties[name] = value
  }
  if (rolePath) nameVersionsByPath(template, rolePath)
}

/** Another path replaces every role, but a published version keeps the deleted one: so the path is part of its id. */
function nameVersionsByPath(template: Template, rolePath: string): void {
  const hash = createHash('sha256').update(rolePath).digest('hex').slice(0, 8)
  for (const [formerId, version] of ofType(template, 'AWS::Lambda::Version')) {
    const id = `${formerId}${hash}`
    delete template.Resources[formerId]
    template.Resources[id] = version
    template.Outputs = rewrite(template.Outputs, (object) => (object.Ref === formerId ? { Ref: id } : object)) as never
  }
}

/** `team=files,costCenter=123` → an object; what the service itself is tagged with comes first. */
export function tagsOf({ tags = '' }: Settings, own: { service: string; stage: string }): Record<string, string> {
  const pairs = tags.split(',').filter((pair) => pair.trim() !== '')
  return { ...own, ...Object.fromEntries(pairs.map((pair) => pair.split('=').map((part) => part.trim()))) }
}
