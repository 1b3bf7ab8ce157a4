import { readServiceDefinition } from '../../infra/local/service-definition.ts'
import { ROOT } from './bundles.ts'
import { arrivalsAt } from './contention/arrivals.ts'
import { simulate } from './contention/simulation.ts'
const definition = await readServiceDefinition(ROOT, 'local')
Object.assign(process.env, definition.environment, { RATE_LIMIT_PER_MINUTE: '60000', RATE_LIMIT_BURST: '10000', DEFAULT_QUOTA_BYTES: `${2 ** 50}` })
const S = Number(process.argv[2] ?? 450), minute = Number(process.argv[3] ?? 60), after = Number(process.argv[4] ?? 25)
const hr = process.hrtime.bigint; const t = hr()
const o = await simulate({ arrivals: [...arrivalsAt(3 * S, minute), ...arrivalsAt(0.9 * S, after, { from: minute, seed: 5 })], copySeconds: 1 }, definition)
const by: Record<string, number> = {}
for (const x of o.answers) by[`${x.status} ${x.reason ?? ''}`] = (by[`${x.status} ${x.reason ?? ''}`] ?? 0) + 1
const per = (f: (x: any) => boolean) => { const out: number[] = []; for (const x of o.answers) if (f(x)) { const i = Math.floor((x.arrived + x.took) / 5); out[i] = (out[i] ?? 0) + 1 / 5 } return out.map((v) => Math.round(v ?? 0)).join(' ') }
console.log(by, '\n200:', per((x) => x.status === 200), '\n429:', per((x) => x.status === 429), '\n503:', per((x) => x.status === 503))
const inMinute = o.answers.filter((x) => x.status === 200 && x.arrived + x.took < minute).length / minute
const late = o.answers.filter((x) => x.arrived > minute + 10), ok = late.filter((x) => x.status === 200).length
console.log('goodput', inMinute.toFixed(0), (inMinute / S * 100).toFixed(0) + '%', 'after 10 s', ok, 'of', late.length, 'left', o.leftOpen, 'procs', o.processes, o.ledger, JSON.stringify(o.tables), 'real s', Number(hr() - t) / 1e9)
const took = o.answers.filter((x) => x.status === 200).map((x) => x.took).sort((a, b) => a - b)
console.log('200 took p50', took[took.length >> 1], 'p99', took[Math.floor(took.length * .99)], 'max', took.at(-1))
process.exit(0)
