import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AssumeRoleCommand, type Credentials, STSClient } from '@aws-sdk/client-sts'
import type { ContainerId, WorkspaceId } from '../../../lib/ids.ts'
import { outputsOf } from '../../deploy/stack.ts'
import { CommandError } from '../command-error.ts'
import type { Session } from '../session.ts'
import { quoted } from '../terminal/output.ts'
import { type Container, openContainer } from './container-files.ts'

const TEMPLATE = join(import.meta.dirname, '../../../docs/policies/sandbox-session.json')
/** STS API Reference, AssumeRole: Policy, RoleSessionName. */
const MAX_POLICY_CHARACTERS = 2048
const MAX_NAME_CHARACTERS = 64
const LOCAL: Partial<Credentials> = { AccessKeyId: 'local', SecretAccessKey: 'local' }
const VARIABLES: Record<string, string> = {
  ...{ AccessKeyId: 'AWS_ACCESS_KEY_ID', SecretAccessKey: 'AWS_SECRET_ACCESS_KEY', SessionToken: 'AWS_SESSION_TOKEN' },
  ...{ region: 'AWS_REGION', endpoint: 'AWS_ENDPOINT_URL_S3', bucket: 'SANDBOX_BUCKET', prefix: 'SANDBOX_PREFIX' },
}

/** Prints the credentials on standard output and nowhere else. */
export async function grant(
  session: Session,
  containerId: ContainerId,
  { workspace, form, for: lifeMs }: { workspace?: WorkspaceId; form: 'env' | 'json' | 'process'; for: number },
): Promise<void> {
  const container = await openContainer(session, containerId, workspace)
  const { bucket, prefix, demo } = container
  const keys = demo ? LOCAL : await assumeRole(container, lifeMs, session.signal)
  const all = { ...keys, bucket, prefix, region: process.env.AWS_REGION, endpoint: demo?.s3_endpoint }
  const variables = Object.entries(all).filter(([name, value]) => name in VARIABLES && value !== undefined)
  const forms = {
    env: variables.map(([name, value]) => `export ${VARIABLES[name]}=${quoted(`${value}`)}`).join('\n'),
    json: JSON.stringify(all),
    process: JSON.stringify({ Version: 1, ...keys }),
  }
  session.output.print(forms[form], all)
  const reach = `They reach ${bucket}/${prefix} until ${keys.Expiration?.toISOString()}.`
  session.output.note(demo ? 'The local S3 has no STS: these reach everything in it, for ever.' : reach)
}

async function assumeRole({ ids, stores, bucket, prefix }: Container, lifeMs: number, signal: AbortSignal) {
  const { SandboxWriterRoleArn: RoleArn, SandboxKmsKeyArn: key } = await outputsOf(stores.config.serviceName, signal)
  if (!RoleArn) throw refused('This stage has no role for containers: deploy it with the setting sandboxWriters.')
  const command = new AssumeRoleCommand({
    RoleArn,
    RoleSessionName: `sandbox-${ids.containerId}`.slice(0, MAX_NAME_CHARACTERS),
    DurationSeconds: Math.floor(lifeMs / 1000),
    Policy: await sessionPolicy(RoleArn, { bucket, prefix, key }),
  })
  try {
    const { Credentials } = await new STSClient({}).send(command, { abortSignal: signal })
    return Credentials as Credentials
  } catch (error) {
    const { name, message } = error as Error
    if (/DurationSeconds/.test(message)) throw refused(`Whoever has assumed a role gets 1h at most: ${message}`, error)
    if (name === 'AccessDenied') throw refused(`Does sandboxWriters name the role in use? ${message}`, error)
    throw error
  }
}

async function sessionPolicy(
  role: string,
  { bucket, prefix, key }: { bucket: string; prefix: string; key: string | undefined },
) {
  const { Statement: all, ...policy } = JSON.parse(await readFile(TEMPLATE, 'utf8'))
  const Statement = all.filter(({ Resource }: { Resource: string }) => key || Resource !== 'KEY')
  const values: Record<string, string | undefined> = {
    ...{ 'sandboxes/WORKSPACE/CONTAINER/': prefix, BUCKET: bucket, KEY: key },
    'arn:*:': role.slice(0, role.indexOf('iam')),
  }
  const words = /sandboxes\/WORKSPACE\/CONTAINER\/|BUCKET|KEY|arn:\*:/g
  const text = JSON.stringify({ ...policy, Statement }).replace(words, (word) => values[word] ?? '')
  if (text.length <= MAX_POLICY_CHARACTERS) return text
  throw refused(`The policy of ${prefix} has ${text.length} characters, and STS takes ${MAX_POLICY_CHARACTERS}.`)
}

const refused = (message: string, cause?: unknown) => new CommandError('no_grant', message, { exitCode: 2, cause })
