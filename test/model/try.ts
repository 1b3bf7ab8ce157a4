import { explore, type Scenario } from './explore.ts'
import { createProtocol } from './protocol.ts'

const promotion = (attempt: number, hasKey = true) => ({ kind: 'promotion' as const, attempt, hasKey })
const deletion = { kind: 'deletion' as const, place: 0 }
const resolver = { kind: 'resolver' as const }
const audit = { kind: 'audit' as const }
const setup = (roles: Scenario['setup']['roles'], placeOf = [0, 0, 0, 0], quota = 2) => ({ quota, maxTakings: 2, placeOf: placeOf.slice(0, 1+Math.max(...roles.map((r) => r.kind === 'promotion' ? r.attempt : 1))), roles })
const withDocument = (world: import('./world.ts').World) => {
  const p = world.places[0]!
  Object.assign(p.document, { kind: 1, attempt: 1 })
  Object.assign(world.attempts[1]!, { hasObject: true, wasRecorded: true })
  world.used = 1
}
const scenarios: Record<string, Scenario> = {
  plain1: { name: 'plain', setup: setup([promotion(1, false), resolver]), faults: 2 },
  plain: { name: 'plain', setup: setup([promotion(1, false), resolver, resolver]), faults: 2 },
  twins: { name: 'twins', setup: setup([promotion(1), promotion(2), resolver]), faults: 2 },
  plainkey: { name: 'x', setup: setup([promotion(1,false), promotion(2), resolver],[0,0,1],2), faults: 1 },
  deletions: { name: 'deletions', setup: setup([deletion, deletion, resolver]), faults: 2, begin: withDocument },
  redo: { name: 'redo', setup: setup([deletion, promotion(2), resolver]), faults: 1, begin: withDocument },
  promdel: { name: 'promdel', setup: setup([promotion(1), promotion(2), deletion, resolver]), faults: 1 },
  audit: { name: 'audit', setup: setup([promotion(1), deletion, audit, resolver]), faults: 1 },
  auditplain: { name: 'audit', setup: setup([promotion(1,false), deletion, audit, resolver]), faults: 1 },
  drift: { name: 'drift', setup: setup([promotion(1), audit, resolver]), faults: 1, begin: (w) => { w.drift = 1; w.used = 1 } },
  three: { name: 'three', setup: setup([promotion(1), promotion(2), promotion(3), resolver]), faults: 1 },
}
for (const spec of process.argv.slice(2)) {
const [name, faults] = spec.split(':')
const scenario = scenarios[name!]!
if (faults) scenario.faults = Number(faults)
const began = performance.now()
const result = explore(createProtocol(), scenario, 40_000_000)
console.log(name, scenario.faults, result.states, result.isComplete, `${((performance.now() - began) / 1000).toFixed(1)} s`, Math.round(process.memoryUsage().rss / 1e6), 'MB')
if (result.violation) console.log(result.violation.invariant + '\n  ' + result.violation.trace.join('\n  '))
}
