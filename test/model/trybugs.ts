import { explore } from './explore.ts'
import { PLANTED_BUGS } from './planted-bugs.ts'
import { createProtocol } from './protocol.ts'
for (const bug of PLANTED_BUGS.filter(b=>!process.argv[2]||b.name.includes(process.argv[2]))) {
  const p = createProtocol(); bug.plant(p)
  const t=performance.now()
  const r = explore(p, bug.scenario)
  console.log(r.violation?.invariant === bug.breaks ? 'ok  ' : 'DIFF', bug.name, '|', r.states, `${(performance.now()-t).toFixed(0)}ms`, '|', r.violation?.invariant, r.violation?.trace.length)
  if (process.argv[2]) console.log('  '+r.violation?.trace.join('\n  '))
}
