import { afterAll } from 'vitest'

// The files of a worker share their process, and the command line sets where its AWS clients find the local service.
const before = { ...process.env }
afterAll(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
  Object.assign(process.env, before)
})
