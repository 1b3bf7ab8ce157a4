import type { Statement } from '../../template/iam-policies.ts'
import { statementsIn } from '../../template/policy-files.ts'
import { type ApiRequest, parametersOf, signedFor, signerOf } from './identities.ts'

interface Session {
  accessKeyId: string
  /** Each of these must allow what it does (IAM user guide, "Session policies"). */
  limits: Statement[][]
}

/**
 * moto's STS hands out keys, but heeds neither the role's policies nor the session's. So they are enforced here: what the
 * deployed role allows, and what the call's own policy does. Whether the role trusts the caller is not judged.
 * @param answer of STS
 * @returns undefined for all other requests
 */
export async function sessionIn(request: ApiRequest, answer: string, account: string): Promise<Session | undefined> {
  const { Action, RoleArn = '', Policy } = parametersOf(request)
  if (signerOf(request).service !== 'sts' || Action !== 'AssumeRole') return undefined
  const [, accessKeyId = ''] = /<AccessKeyId>(\w+)</.exec(answer) ?? []
  const asked = { Action: 'GetRolePolicy', Version: '2010-05-08', PolicyName: 'sandbox-writer' }
  const body = new URLSearchParams({ ...asked, RoleName: RoleArn.split('/').at(-1) ?? '' })
  const text = await (await fetch(account, { method: 'POST', headers: signedFor('iam'), body })).text()
  const [, document] = /<PolicyDocument>([^<]+)</.exec(text) ?? []
  if (document === undefined) throw new Error(`${RoleArn} has no such policy: ${text}`)
  const ofRole = statementsIn(decodeURIComponent(document))
  return { accessKeyId, limits: [ofRole, ...(Policy === undefined ? [] : [statementsIn(Policy)])] }
}
