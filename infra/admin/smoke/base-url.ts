import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { CommandError } from '../command-error.ts'
import type { Target } from '../connect.ts'
import { stackNameOf } from '../region.ts'

/** The target's base URL, from the running local service or the stack's outputs. */
export async function baseUrlOf({ local, directory, stage }: Target, abortSignal: AbortSignal): Promise<string> {
  if (local) return (JSON.parse(await readFile(join(directory, 'demo.json'), 'utf8')) as { base_url: string }).base_url
  if (stage === undefined) {
    throw new CommandError('wrong_usage', 'Say where the API is, with --stage <name>, --local or --base-url <url>.', {
      exitCode: 2,
    })
  }
  const StackName = stackNameOf(stage)
  const { Stacks } = await new CloudFormationClient({}).send(new DescribeStacksCommand({ StackName }), { abortSignal })
  const url = Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === 'BaseUrl')?.OutputValue
  if (url) return url
  throw new CommandError('not_deployed', `The stack ${StackName} has no output BaseUrl.`, { exitCode: 2 })
}
