import { launch } from './launch.mjs'

await launch(() => import('./start.ts'), 1)
