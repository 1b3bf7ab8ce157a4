// npm start runs this file.
import { launch } from './launch.mjs'

await launch(() => import('./start.ts'), 1)
