import { describe, expect, it } from 'vitest'
import { chooseFileShape } from '../../lib/http/file-shape.ts'

const choose = (headers: Record<string, string>) =>
  chooseFileShape({
    headers,
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
  })

describe('chooseFileShape', () => {
  it.each([
    ['nothing known', {}, 'native'],
    ['curl', { 'User-Agent': 'curl/8.5.0' }, 'native'],
    ['a named shape', { 'File-Shape': 'compat_b' }, 'compat_b'],
    ['a named shape in any case of the header', { 'FILE-SHAPE': 'compat_a' }, 'compat_a'],
    ['a named shape before the library', { 'file-shape': 'native', 'anthropic-version': '2026-10-21' }, 'native'],
    ['the first vendor', { 'anthropic-version': '2026-10-21' }, 'compat_a'],
    ['the first vendor before the second', { 'anthropic-version': '2026-10-21', 'openai-beta': 'x' }, 'compat_a'],
    ['the second vendor by user agent', { 'user-agent': 'OpenAI/JS 6.49.0' }, 'compat_b'],
    ['the second vendor by asynchronous user agent', { 'user-agent': 'AsyncOpenAI/Python 2.1.0' }, 'compat_b'],
    ['another user agent that mentions the second vendor', { 'user-agent': 'my-OpenAI/1' }, 'native'],
    ['openai-organization', { 'OpenAI-Organization': 'org' }, 'compat_b'],
    ['openai-project', { 'OpenAI-Project': 'proj' }, 'compat_b'],
    ['openai-beta', { 'OpenAI-Beta': 'assistants=v2' }, 'compat_b'],
    ['x-stainless headers alone', { 'x-stainless-lang': 'js', 'x-stainless-package-version': '6.49.0' }, 'native'],
    ['the promoting library', { 'user-agent': 'speakeasy-sdk/typescript 1.3.19' }, 'native'],
  ])('%s: %s', (_, headers, shape) => {
    expect(choose(headers)).toBe(shape)
  })

  it.each(['', 'Native', 'compat', 'native, compat_a', 'openai'])('refuses File-Shape %j', (value) => {
    expect(() => choose({ 'file-shape': value })).toThrow(expect.objectContaining({ reason: 'invalid_file_shape' }))
  })
})
