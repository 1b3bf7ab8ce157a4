import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Credentials, STS } from '@aws-sdk/client-sts'
import { outputsOf } from '../../deploy/stack.ts'
import { CommandError } from '../command-error.ts'
import type { Session } from '../session.ts'
import { quoted } from '../terminal/output.ts'
import type { Container } from './open-container.ts'

type Options = { form: 'env' | 'process'; for: number }

const TEMPLATE = join(import.meta.dirname, '../../../docs/policies/sandbox-session.json')
const VARIABLES: Record<string, string> = {
  ...{ AccessKeyId: 'AWS_ACCESS_KEY_ID', SecretAccessKey: 'AWS_SECRET_ACCESS_KEY', SessionToken: 'AWS_SESSION_TOKEN' },
  ...{ region: 'AWS_REGION', endpoint: 'AWS_ENDPOINT_URL_S3', bucket: 'SANDBOX_BUCKET', prefix: 'SANDBOX_PREFIX' },
}

export async function grant({ output, signal }: Session, container: Container, { form, for: lifeSeconds }: Options) {
  const { bucket, prefix, demo } = container
  const local = { AccessKeyId: 'local', SecretAccessKey: 'local', Expiration: undefined }
  const keys = demo ? local : await assumeRole(container, lifeSeconds, signal)
  const all = { ...keys, bucket, prefix, region: process.env.AWS_REGION, endpoint: demo?.s3_endpoint }
  const variables = Object.entries(all).filter(([name, value]) => name in VARIABLES && value !== undefined)
  const forms = {
    env: variables.map(([name, value]) => `export ${VARIABLES[name]}=${quoted(`${value}`)}`).join('\n'),
    process: JSON.stringify({ Version: 1, ...keys }),
  }
  output.print(forms[form], all)
  const reach = `They reach ${bucket}/${prefix} until ${keys.Expiration?.toISOString()}.`
  output.note(demo ? 'The local S3 has no STS: these reach everything in it, for ever.' : reach)
}

async function assumeRole({ ids, stores, bucket, prefix }: Container, lifeSeconds: number, signal: AbortSignal) {
  const { SandboxWriterRoleArn: RoleArn } = await outputsOf(stores.config.serviceName, signal)
  if (!RoleArn) throw refused('This stage has no role for containers: deploy it with the setting sandboxWriters.')
  const policy = JSON.parse(await readFile(TEMPLATE, 'utf8'))
  const wanted = {
    RoleArn,
    RoleSessionName: `sandbox-${ids.containerId}`.slice(0, 64), // STS takes no more characters.
    DurationSeconds: lifeSeconds,
    // The prefix comes last: ids may be words that are replaced.
    Policy: JSON.stringify(policy)
      .replaceAll('arn:*:', RoleArn.slice(0, RoleArn.indexOf('iam')))
      .replaceAll('BUCKET', bucket)
      .replaceAll('sandboxes/WORKSPACE/CONTAINER/', () => prefix),
  }
  try {
    return (await new STS().assumeRole(wanted, { abortSignal: signal })).Credentials as Credentials
  } catch (error) {
    const { name, message } = error as Error
    if (/DurationSeconds/.test(message)) throw refused(`Whoever has assumed a role gets 1h at most: ${message}`, error)
    if (name === 'AccessDenied') throw refused(`Is the role in sandboxWriters, and may it do this? ${message}`, error)
    if (/^PackedPolicy/.test(name)) throw refused(`Turn its session tags off (disableSessionTags): ${message}`, error)
    throw error
  }
}

const refused = (message: string, cause?: unknown) => new CommandError('no_grant', message, { exitCode: 2, cause })
