import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { openProgress } from './progress.ts'

test('without a terminal, progress is a line now and then, until it is cleared', async () => {
  const stream = new PassThrough() as unknown as NodeJS.WriteStream & PassThrough
  const progress = openProgress(stream, 5)
  progress.show('Reading: 5 revisions …', 0.5)
  progress.show('Reading: 7 revisions …', 0.789)
  const [first] = await once(stream, 'data')
  assert.equal(`${first}`, 'Reading: 7 revisions … 78%\n')
  const [second] = await once(stream, 'data')
  assert.equal(`${second}`, `${first}`)
  progress.clear()
  progress.clear()

  const silent = new PassThrough() as unknown as NodeJS.WriteStream & PassThrough
  openProgress(silent).show('Starting')
  assert.equal(silent.read(), null)
})
