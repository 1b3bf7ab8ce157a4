import { readServiceDefinition } from '../../infra/local/service-definition.ts'
import { ROOT } from './bundles.ts'
import { allAtOnce, arrivalsAt } from "./contention/arrivals.ts"
import { simulate } from './contention/simulation.ts'
const definition = await readServiceDefinition(ROOT, 'local')
Object.assign(process.env, definition.environment, { RATE_LIMIT_PER_MINUTE: '60000', RATE_LIMIT_BURST: '10000', DEFAULT_QUOTA_BYTES: `${2 ** 50}` })
const hr = process.hrtime.bigint
const [what = 'burst', a = '300', b = '3', c = '20'] = process.argv.slice(2)
const t = hr()
const scenario = what === 'burst' ? { arrivals: allAtOnce(+a, 1), copySeconds: +b } : { arrivals: arrivalsAt(+a, +c), copySeconds: +b }
const o = await simulate(scenario, definition)
const by: Record<string, number> = {}
for (const x of o.answers) by[`${x.status} ${x.reason ?? ''}`] = (by[`${x.status} ${x.reason ?? ''}`] ?? 0) + 1
const over = o.answers.filter((x) => x.status === 200).map((x) => x.took - +b).sort((p, q) => p - q)
console.log(by, 'beyond copy p50', over[over.length >> 1]?.toFixed(2), 'p99', over[Math.floor(over.length * .99)]?.toFixed(2), 'max', over.at(-1)?.toFixed(2), 'left', o.leftOpen, 'procs', o.processes, o.ledger, JSON.stringify(o.tables), 'real s', Number(hr() - t) / 1e9)
process.exit(0)
