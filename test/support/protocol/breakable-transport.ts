import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { HttpHandlerOptions, HttpRequest } from '@smithy/types'
import { connectionsOf } from '../../../lib/aws/clients.ts'
import { fromWire, type Transport, toWire } from '../aws/in-process.ts'
import type { Store } from '../aws/store.ts'
import { type AwsCall, type Fault, type FaultProxy, startFaultProxy, toCall } from './fault-proxy.ts'

/** All that may happen to a call of a process that can be killed. */
export type ProcessFault = Fault | { kind: 'kill_after' }

/** A process from its start until it is killed or replaced. */
export interface Life {
  /** Whether it sends nothing any more. */
  mayBeReplaced: boolean
  /** Whether nothing that it sent can arrive any more. */
  isTimeUp: boolean
  /** Calls that will end without the help of a time limit. */
  underWay: Set<Promise<unknown>>
  /** Resolves when it is dead and what it had sent has ended. */
  died: Promise<void>
  die(): void
  /** All calls that it made, the SDK's repetitions included. */
  calls: AwsCall[]
  /** Whether even calls without a fault go over the network. */
  onTheWire: boolean
  faultOf(call: AwsCall): ProcessFault | undefined
}

export function newLife(onTheWire: boolean): Life {
  const { promise: died, resolve } = Promise.withResolvers<void>()
  const life: Life = {
    mayBeReplaced: false,
    isTimeUp: false,
    underWay: new Set(),
    died,
    die() {
      life.mayBeReplaced = true
      void Promise.allSettled(life.underWay).then(() => resolve())
    },
    calls: [],
    onTheWire,
    faultOf: () => undefined,
  }
  return life
}

const ID_HEADER = 'x-test-id'
/** Longer than anything takes, however busy the machine is. */
export const PATIENT_MS = 60_000
const MOST_SOCKETS = 256

/**
 * Replaces an SDK client's transport: the life that makes a call decides what happens to it, on the wire.
 *
 * Calls that are not made to hang have PATIENT_MS in place of every limit of the product: on a busy machine it would repeat
 * a call to which nothing was to happen.
 *
 * @param options.hungMs for calls that are made to hang, if they bring no limit of their own
 */
export async function startBreakableTransport(options: {
  store: Store
  lifeOf: () => Life
  hungMs: number
}): Promise<Transport & Pick<FaultProxy, 'endpoint' | 'deliverLate' | 'stop'>> {
  const { store, lifeOf, hungMs } = options
  const proxy = await startFaultProxy(store)
  const network = connectionsOf(MOST_SOCKETS)
  network.updateHttpClientConfig('connectionTimeout', PATIENT_MS)
  const underWay = new Map<string, { life: Life; fault: Fault | undefined }>()
  proxy.fault = ({ headers }) => {
    const sent = underWay.get(String(headers[ID_HEADER]))
    return sent === undefined || sent.life.isTimeUp ? { kind: 'refuse' } : sent.fault
  }

  const overTheWire = async (
    request: HttpRequest,
    { life, fault }: { life: Life; fault: Fault | undefined },
    given: HttpHandlerOptions = {},
  ) => {
    const id = randomUUID()
    underWay.set(id, { life, fault })
    proxy.calls.length = 0
    const isHung = fault?.kind === 'hang' || fault?.kind === 'late'
    const limit = isHung ? (given.requestTimeout ?? hungMs) : PATIENT_MS
    const copy: HttpRequest = Object.assign(Object.create(Object.getPrototypeOf(request)), request)
    copy.headers = { ...request.headers, [ID_HEADER]: id }
    const answering = network.handle(copy as never, { ...given, requestTimeout: limit })
    if (fault === undefined || fault.kind === 'lose_answer') {
      life.underWay.add(answering)
      void answering.catch(() => {}).then(() => life.underWay.delete(answering))
    }
    return answering
  }

  return {
    endpoint: proxy.endpoint,
    deliverLate: proxy.deliverLate,
    async stop() {
      network.destroy()
      await proxy.stop()
    },
    async handle(request, given) {
      const life = lifeOf()
      if (life.mayBeReplaced) throw brokenConnection()
      const sent = toWire(request)
      const call = toCall(sent)
      life.calls.push(call)
      const fault = life.faultOf(call)
      if (fault?.kind === 'kill_after') {
        // Calls sent at the same moment are on their way before the process is killed.
        for (let turns = 0; turns < 3; turns++) await setImmediate()
        await store({ ...sent, headers: call.headers })
        life.die()
        throw brokenConnection()
      }
      if (fault || life.onTheWire) return overTheWire(request, { life, fault }, given)
      const answer = await store({ ...sent, headers: call.headers })
      if (life.mayBeReplaced) throw brokenConnection()
      return { response: fromWire(answer, request.method) }
    },
  }
}

/** An error for a dead process: nobody looks at it. */
function brokenConnection(): Error {
  return Object.assign(new Error('this process was killed'), { code: 'ECONNRESET' })
}
