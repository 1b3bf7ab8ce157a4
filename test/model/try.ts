import { explore, type Scenario } from './explore.ts'
import { createProtocol } from './protocol.ts'
import { LONG_SCENARIOS, SCENARIOS } from './scenarios.ts'

let total = 0
for (const spec of process.argv.slice(2)) {
const [name, faults] = spec.split(':')
const scenario: Scenario = { ...({ ...SCENARIOS, ...LONG_SCENARIOS } as Record<string, Scenario>)[name!]! }
if (faults) scenario.faults = Number(faults)
const began = performance.now()
const result = explore(createProtocol(), scenario, 45_000_000)
total += result.states
console.log(name, scenario.faults, result.states, result.isComplete, `${((performance.now() - began) / 1000).toFixed(1)} s`, Math.round(process.memoryUsage().rss / 1e6), 'MB', total)
if (result.violation) console.log(result.violation.invariant + '\n  ' + result.violation.trace.join('\n  '))
}
