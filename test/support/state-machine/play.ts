/** A state machine in Amazon States Language, or what a map does with each item. */
export interface Definition {
  StartAt: string
  States: Readonly<Record<string, State>>
  [field: string]: unknown
}

// biome-ignore lint/suspicious/noExplicitAny: the fields of a state are of its type
type State = { Type: string; Next?: string; End?: boolean; [field: string]: any }
interface Rule {
  ErrorEquals: string[]
  [field: string]: unknown
}

export interface Stage {
  /** Carries a task out, however long it takes. @param parameters what the state's Parameters make of its input */
  perform(resource: string, parameters: unknown): Promise<unknown>
  /** `$$` stands for it. */
  context: object
  signal: AbortSignal
  /** Waits before a task is tried again. */
  pause(durationMs: number, signal: AbortSignal): Promise<unknown>
}

const FLOW = ['Type', 'Comment', 'Next', 'End']
const RESULT = ['ResultSelector', 'ResultPath', 'OutputPath', 'Retry', 'Catch']
/** This player knows no more of the language. Anything else is an error, and never ignored. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  Task: [...FLOW, ...RESULT, 'Resource', 'Parameters', 'TimeoutSeconds'],
  Map: [...FLOW, ...RESULT, 'Label', 'ItemsPath', 'ItemProcessor', 'ToleratedFailurePercentage'],
  Choice: [...FLOW, 'Choices', 'Default'],
  Pass: [...FLOW, 'Parameters', 'ResultPath'],
  Succeed: FLOW,
}

/**
 * Plays a state machine as AWS Step Functions does. Supports what our definitions use of the Amazon States Language,
 * with JSONPath. Keeps no state: a stopped run starts over.
 * @returns the output of the last state
 */
export async function play(definition: Definition, input: unknown, stage: Stage): Promise<unknown> {
  let data = input
  for (let name: string | undefined = definition.StartAt; name !== undefined; ) {
    stage.signal.throwIfAborted()
    const state: State | undefined = definition.States[name]
    if (state === undefined) throw stateMachineError('States.Runtime', `there is no state ${name}`)
    refuseUnknown(name, state)
    const step: Step = await enter(state, data, stage)
    data = step.output
    name = step.next
  }
  return data
}

interface Step {
  output: unknown
  next: string | undefined
}

async function enter(state: State, input: unknown, stage: Stage): Promise<Step> {
  switch (state.Type) {
    case 'Choice':
      return { output: input, next: choose(state, input) }
    case 'Succeed':
      return { output: input, next: undefined }
    case 'Pass':
      return { output: put(input, state.ResultPath, parametersOf(state, input, stage)), next: state.Next }
    default:
      return work(state, input, stage)
  }
}

const parametersOf = (state: State, input: unknown, { context }: Stage) =>
  state.Parameters === undefined ? input : fill(state.Parameters, input, context)

/** A task or a map, with its Retry and Catch. */
async function work(state: State, input: unknown, stage: Stage): Promise<Step> {
  const retries = ((state.Retry ?? []) as Rule[]).map((rule) => ({ rule, times: 0 }))
  for (;;) {
    try {
      const raw = await (state.Type === 'Map'
        ? mapItems(state, input, stage)
        : stage.perform(state.Resource, parametersOf(state, input, stage)))
      const result = state.ResultSelector === undefined ? raw : fill(state.ResultSelector, raw, stage.context)
      const output = put(input, state.ResultPath, result)
      return { output: at(state.OutputPath ?? '$', output, stage.context), next: state.Next }
    } catch (error) {
      stage.signal.throwIfAborted()
      const retry = retries.find(({ rule }) => applies(rule, error))
      if (retry !== undefined && retry.times < Number(retry.rule.MaxAttempts ?? 3)) {
        await stage.pause(secondsBefore(retry.rule, retry.times++) * 1000, stage.signal)
        continue
      }
      const caught = ((state.Catch ?? []) as Rule[]).find((rule) => applies(rule, error))
      if (caught === undefined) throw error
      const output = put(input, caught.ResultPath as string | undefined, failureOf(error))
      return { output, next: String(caught.Next) }
    }
  }
}

/**
 * A failed item leaves its execution's data instead of an output (developer guide, "ResultWriter": of a failed child
 * workflow, the result is as with the transformation NONE).
 */
async function mapItems(state: State, input: unknown, stage: Stage): Promise<unknown[]> {
  const { ProcessorConfig = {}, ...processor } = state.ItemProcessor
  if (ProcessorConfig.Mode !== 'DISTRIBUTED' || state.ToleratedFailurePercentage !== 100)
    throw stateMachineError('States.Runtime', 'only distributed maps that tolerate every failure are known')
  const items = at(state.ItemsPath ?? '$', input, stage.context) as unknown[]
  return Promise.all(
    items.map(async (item) => {
      try {
        return await play(processor as Definition, item, stage)
      } catch (error) {
        stage.signal.throwIfAborted()
        return { Status: 'FAILED', Input: JSON.stringify(item), ...failureOf(error) }
      }
    }),
  )
}

function choose({ Choices, Default }: State, input: unknown): string {
  for (const { Variable, BooleanEquals, Next, ...others } of Choices) {
    if (typeof BooleanEquals !== 'boolean' || Object.keys(others).length > 0) {
      throw stateMachineError('States.Runtime', `the choice ${JSON.stringify({ Variable, ...others })} is not known`)
    }
    if (at(Variable, input, {}) === BooleanEquals) return Next
  }
  if (Default === undefined) throw stateMachineError('States.NoChoiceMatched', 'and there is no default')
  return Default
}

function refuseUnknown(name: string, state: State): void {
  const fields = FIELDS[state.Type]
  const unknown = Object.keys(state).find((field) => !fields?.includes(field))
  if (unknown === undefined) return
  throw stateMachineError('States.Runtime', `${name}: ${fields ? `the field ${unknown}` : state.Type} is not known`)
}

const failureOf = (error: unknown) => ({
  Error: nameOf(error),
  Cause: error instanceof Error ? error.message : String(error),
})

const nameOf = (error: unknown) => (error instanceof Error ? error.name : 'Error')

const applies = ({ ErrorEquals }: Rule, error: unknown) =>
  ErrorEquals.includes('States.ALL') || ErrorEquals.includes(nameOf(error))

function secondsBefore(rule: Rule, times: number): number {
  const { IntervalSeconds = 1, BackoffRate = 2, MaxDelaySeconds = Number.POSITIVE_INFINITY } = rule
  return Math.min(Number(IntervalSeconds) * Number(BackoffRate) ** times, Number(MaxDelaySeconds))
}

type Values = Readonly<Record<string, unknown>>

/** An error of the engine itself, with the name by which a definition catches it. */
function stateMachineError(name: string, message: string): Error {
  return Object.assign(new Error(message), { name })
}

/**
 * The value at a path: `$` and `$$` with names after dots, nothing else of JSONPath.
 * @throws Error when there is none
 */
function at(path: string, data: unknown, context: object): unknown {
  if (!/^\$\$?(\.\w+)*$/.test(path)) throw stateMachineError('States.Runtime', `the path ${path} is not known`)
  const [root, ...names] = path.split('.')
  return names.reduce<unknown>(
    (value, name) => {
      const inner = (value as Values | null | undefined)?.[name]
      if (inner === undefined) throw stateMachineError('States.Runtime', `there is nothing at ${path}`)
      return inner
    },
    root === '$$' ? context : data,
  )
}

/** A template of parameters: members whose name ends in `.$` are paths. */
function fill(template: unknown, data: unknown, context: object): unknown {
  if (typeof template !== 'object' || template === null || Array.isArray(template)) return template
  return Object.fromEntries(
    Object.entries(template).map(([name, value]) =>
      name.endsWith('.$') ? [name.slice(0, -2), at(String(value), data, context)] : [name, fill(value, data, context)],
    ),
  )
}

/** The input of a state with its result put where ResultPath says: instead of it, under a name of it, or nowhere (null). */
function put(input: unknown, path: string | null | undefined, result: unknown): unknown {
  if (path === null) return input
  if (path === undefined || path === '$') return result
  const [, name] = /^\$\.(\w+)$/.exec(path) ?? []
  if (name === undefined) throw stateMachineError('States.ResultPathMatchFailure', `the path ${path} is not known`)
  return { ...(input as object), [name]: result }
}
