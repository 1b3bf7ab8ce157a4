import { describe, expect, it } from 'vitest'
import { send } from '../../../lib/aws/send.ts'
import { type Answer, GOOD, json, refusal, useAnsweringStores } from '../../support/stores/answering-stores.ts'
import { clientOf, refused } from '../../support/stores/client-of.ts'
import { object, startScriptedS3 } from '../../support/stores/scripted-s3.ts'
import { skipWaits } from '../../support/virtual-waits.ts'

skipWaits()
const stores = useAnsweringStores()
const { startStore } = stores

describe('send with a clock that is off', () => {
  const ahead = () => ({ date: new Date(Date.now() + 600_000).toUTCString() })

  it('sends again what was refused because of it, with the time that the store told', async () => {
    const dates: string[] = []
    const noting =
      (answer: Answer): Answer =>
      (request, response) => {
        dates.push(String(request.headers['x-amz-date']))
        answer(request, response)
      }
    const store = await startStore(noting(refusal('InvalidSignatureException', ahead())), noting(GOOD))
    await store.call({ startsCopy: true })
    const [first = 0, second = 0] = dates.map((date) => Number(date.replace(/\D/g, '')))
    expect(second).toBeGreaterThan(first)
  })

  it('sends HeadObject again, whose refusals have no name', async () => {
    const refusing: Answer = (_, response) => void response.writeHead(403, ahead()).end()
    const s3 = await startScriptedS3({ 'HeadObject sandboxes': [refusing, object()] })
    stores.onStop(s3.stop)
    expect(await s3.store.findContainerFile('a.csv', AbortSignal.timeout(5000))).toBeDefined()
    expect(s3.calls()).toEqual(['HeadObject sandboxes', 'HeadObject sandboxes'])
  })

  it('sends again what was held up until its signature had expired', async () => {
    const message = 'Signature expired: 1 is now earlier than 2'
    const store = await startStore(json(400, { __type: 'x#InvalidSignatureException', message }), GOOD)
    await store.call({ startsCopy: true })
    expect(store.calls()).toBe(2)
  })

  it('sends again what S3 found signed at another time', async () => {
    const answers = [refused(403, 'RequestTimeTooSkewed'), {}]
    const { client, sent } = clientOf({ Object: () => answers.shift() })
    await send(client, {} as never, { name: 'a call', signal: AbortSignal.timeout(5000) })
    expect(sent).toHaveLength(2)
  })
})
