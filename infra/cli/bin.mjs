#!/usr/bin/env node
import { launch } from '../local/launch.mjs'

await launch(() => import('./main.ts'), 2)
