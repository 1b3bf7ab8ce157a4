import * as cloudformation from '@aws-sdk/client-cloudformation'
import * as dynamodb from '@aws-sdk/client-dynamodb'
import * as lambda from '@aws-sdk/client-lambda'
import * as s3 from '@aws-sdk/client-s3'
import * as sns from '@aws-sdk/client-sns'
import { describe, expect, it } from 'vitest'
import { read } from '../pages/pages.ts'
import { runAdmin } from '../support/machine/admin.ts'

const RUN = ['deploy', 'runbook', 'restore', 'tenants-and-regions'].map((name) => `docs/${name}.md`)

const operations = RUN.map(read).join('\n')
const pages = ['README.md', 'docs/administration.md'].map(read).join('\n') + operations

/** The commands of all blocks, with continued lines joined, and those in running text. */
function commands(text: string): string[] {
  const blocks = [...text.matchAll(/```(?:sh|console)\n([\s\S]*?)```/g)].map(([, block = '']) => block)
  const inText = [...text.replace(/```[\s\S]*?```/g, '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
  const lines = blocks.flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'))
  return [...lines, ...inText].map((line) => line.replace(/^\$ /, '').trim())
}

describe('the commands of the documentation', () => {
  it('of the administration are there, with their options', { timeout: 120_000 }, async () => {
    const lines = commands(pages)
      .flatMap((line) => /npm run admin -- ([^#|;&]+)/.exec(line)?.[1] ?? [])
      .filter((line) => !line.includes('…') && !line.startsWith('--help'))
    const byCommand = new Map<string, Set<string>>()
    for (const line of lines) {
      const words = line
        .replace(/(--stage|--region|--directory) \S+|--local/g, '')
        .trim()
        .split(/\s+/)
      const firstOption = words.findIndex((word) => !/^[a-z][a-z-]*$/.test(word))
      const path = (firstOption < 0 ? words : words.slice(0, firstOption)).slice(0, 2).join(' ')
      const options = words.filter((word) => word.startsWith('--'))
      byCommand.set(path, new Set([...(byCommand.get(path) ?? []), ...options]))
    }
    expect([...byCommand.keys()]).toEqual(
      expect.arrayContaining(['doctor', 'smoke', 'stop', 'resume', 'restore tables', 'keys rotate', 'audit']),
    )
    for (const [path, options] of byCommand) {
      const help = await runAdmin([...path.split(' '), '--help'])
      const usage = expect.stringMatching(new RegExp(`^Usage: promotion-admin ${path} `))
      expect([path, help.code, help.stdout]).toEqual([path, 0, usage])
      for (const option of ['--stage', '--json', 'Exit code:', ...options])
        expect([path, help.stdout]).toEqual([path, expect.stringContaining(option)])
    }
  })

  it('of AWS are there', () => {
    const clients = { cloudformation, dynamodb, lambda, s3api: s3, sns }
    const pascal = (name: string) => name.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase())
    const asked = commands(operations).flatMap((line) => {
      const [, service = '', wait, name = ''] = /\baws ([a-z0-9]+) (wait )?([a-z-]+)/.exec(line) ?? []
      const client = clients[service as keyof typeof clients]
      return client ? [{ line, client, api: wait ? `waitUntil${pascal(name)}` : `${pascal(name)}Command` }] : []
    })
    expect(asked.length).toBeGreaterThan(10)
    for (const { line, client, api } of asked) expect([line, api in client]).toEqual([line, true])
  })

  it('begin a round of the audit by its state machine: its function alone does one slice', () => {
    const lines = commands(operations)
    expect(lines.filter((line) => line.startsWith('aws stepfunctions start-execution')).length).toBeGreaterThan(0)
    expect(lines.filter((line) => /^aws lambda invoke .*-audit/.test(line))).toEqual([])
  })
})
