import { createProcessMoves, type ProcessMove } from './process-moves.ts'
import type { Model } from './protocol.ts'
import { createTimeMoves, type TimeMove } from './time-moves.ts'
import type { World } from './world.ts'

/** One thing that may happen next. */
export type Move = ProcessMove | TimeMove

export interface Moves {
  list(world: World): Move[]
  /** Of a single process. */
  listOf(world: World, index: number): Move[]
  /** Changes the world. */
  apply(world: World, move: Move): void
  describe(world: World, move: Move): string
}

export function createMoves(model: Model): Moves {
  const process = createProcessMoves(model)
  const time = createTimeMoves(model, process.write)

  function listOf(world: World, index: number): Move[] {
    const moves: Move[] = []
    process.list(world, index, moves)
    return moves
  }

  return {
    listOf,
    list(world) {
      const moves: Move[] = []
      for (let index = 0; index < world.processes.length; index++) process.list(world, index, moves)
      time.list(world, moves)
      return moves
    },
    apply: (world, move) => ('what' in move ? time.apply(world, move) : process.apply(world, move)),
    describe: (world, move) => ('what' in move ? time.describe(world, move) : process.describe(world, move)),
  }
}
