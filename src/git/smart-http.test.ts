import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { Refusal } from '#platform/errors.ts'
import { pkt } from '#test/git.ts'
import { delayReport, explainFailure, type Service } from './smart-http.ts'

/** A stream in two pieces, for every place where it can be divided, and in pieces of a byte. */
function divide(output: string): Buffer[][] {
  const bytes = Buffer.from(output, 'latin1')
  const halves = Array.from(bytes, (_, at) => [bytes.subarray(0, at), bytes.subarray(at)].filter(({ length }) => length))
  return [...halves, Array.from(bytes, (byte) => Buffer.of(byte))]
}

const report = `${pkt(`\x01${pkt('unpack ok\n')}${pkt('ok refs/heads/main\n')}0000`)}`
const before = pkt('\x02before the report\n')
const after = pkt('\x02after the report\n')

test('the report of a push waits for its record, however its bytes arrive, and messages do not', async () => {
  for (const pieces of divide(`${before}${report}${after}0000`)) {
    const recorded = Promise.withResolvers<void>()
    const sent: Buffer[] = []
    const output = delayReport(
      Readable.from(pieces).once('end', () => recorded.resolve()),
      recorded.promise.then(() => assert.equal(Buffer.concat(sent).includes('unpack ok'), false)),
    )
    output.on('data', (piece: Buffer) => sent.push(piece))
    await text(output)
    assert.equal(Buffer.concat(sent).toString(), `${before}${after}${report}0000`)
  }
})

test('a push that is not recorded gets a message instead of the report, however its bytes arrive', async () => {
  for (const pieces of divide(`${before}${report}${after}0000`)) {
    const refused = Promise.reject(new Refusal('missing', 'It was deleted.'))
    const found = await text(delayReport(Readable.from(pieces), refused))
    assert.equal(found, `${before}${after}${pkt('\x03It was deleted.\n')}0000`)
  }
})

test('a complaint of git is replaced by the reason, however its bytes arrive', async () => {
  const pack = pkt(`\x01${'x'.repeat(600)}`)
  const complaint = pkt('\x03aborting due to possible repository corruption on the remote side.')
  for (const pieces of divide(`${pack}${complaint}`)) {
    const service = { output: Readable.from(pieces), closed: Promise.resolve(128) } as Service
    const found = await text(explainFailure(service, async () => 'It was deleted.'))
    assert.equal(found, `${pack}${pkt('\x03It was deleted.\n')}`)
  }
})
