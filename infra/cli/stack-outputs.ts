import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation'

/** By name (infra/resources/outputs.yml). */
export async function outputsOf(
  StackName: string,
  abortSignal: AbortSignal,
): Promise<Partial<Record<string, string | undefined>>> {
  const { Stacks } = await new CloudFormationClient({}).send(new DescribeStacksCommand({ StackName }), { abortSignal })
  return Object.fromEntries((Stacks?.[0]?.Outputs ?? []).map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]))
}
