import { describe, expect, it } from 'vitest'
import { chooseShape } from '../../../lib/http/shapes.ts'

const choose = (headers: Record<string, string>) => chooseShape({ headers, multiValueHeaders: {} })

describe('chooseShape', () => {
  it.each([
    ['nothing known', {}, 'native'],
    ['a named shape', { 'File-Shape': 'compat_b' }, 'compat_b'],
    ['a named shape before the library', { 'file-shape': 'native', 'anthropic-version': '2026-10-21' }, 'native'],
    ['the first vendor', { 'anthropic-version': '2026-10-21' }, 'compat_a'],
    ['the first vendor before the second', { 'anthropic-version': '2026-10-21', 'openai-beta': 'x' }, 'compat_a'],
    ['the second vendor by user agent', { 'user-agent': 'OpenAI/JS 6.49.0' }, 'compat_b'],
    ['the second vendor by asynchronous user agent', { 'user-agent': 'AsyncOpenAI/Python 2.1.0' }, 'compat_b'],
    ['another user agent that mentions the second vendor', { 'user-agent': 'my-OpenAI/1' }, 'native'],
    ['openai-organization', { 'OpenAI-Organization': 'org' }, 'compat_b'],
    ['openai-project', { 'OpenAI-Project': 'proj' }, 'compat_b'],
    ['openai-beta', { 'OpenAI-Beta': 'assistants=v2' }, 'compat_b'],
    ['x-stainless alone: a subclass, a browser', { 'x-stainless-lang': 'js', 'user-agent': 't/JS 7' }, 'compat_b'],
    ['x-stainless headers of the first vendor', { 'x-stainless-lang': 'js', 'anthropic-version': '2' }, 'compat_a'],
    ['another library of the same generator', { 'user-agent': 'speakeasy-sdk/typescript 1 x @other/sdk' }, 'native'],
  ])('%s: %s', (_, headers, shape) => {
    expect(choose(headers)).toEqual({ shape, label: shape })
  })

  const OPENROUTER = 'speakeasy-sdk/typescript 1.3.19 2.918.3 1.0.0 @openrouter/sdk'

  it.each([
    ['by itself', {}, 'native', 'openrouter'],
    ['with a header of the first vendor', { 'anthropic-version': '2026-10-21' }, 'compat_a', 'anthropic'],
    ['with a header of the second vendor', { 'openai-project': 'proj' }, 'compat_b', 'openai'],
    ['when it names a shape, as docs/openapi.yaml does', { 'file-shape': 'native' }, 'native', 'native'],
  ])('speaks to @openrouter/sdk in the words it knows, %s', (_, headers, shape, label) => {
    expect(choose({ ...headers, 'user-agent': OPENROUTER })).toEqual({ shape, label })
  })

  it.each(['Native', 'compat', 'native, compat_a', 'openai'])('refuses File-Shape %j', (value) => {
    expect(() => choose({ 'file-shape': value })).toThrow(expect.objectContaining({ reason: 'invalid_file_shape' }))
  })
})
