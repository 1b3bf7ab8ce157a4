import { explore } from '../explorer/explore.ts'
import type { Scenario } from './scenarios.ts'
import { Schedule } from './schedule.ts'

export const exploreNext = (scenario: Scenario, maxStates: number) => explore(scenario, maxStates, Schedule.begin)
