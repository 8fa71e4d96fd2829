import assert from 'node:assert/strict'
import { test } from 'node:test'
import { convert, openConversions, refsIn } from '#test/imports/convert-command.ts'
import { tellStory } from '#test/tfvc/example-history.ts'
import { startTfvcServer } from '#test/tfvc/server.ts'

test('a dry run names branches, authors and what is left out, and reads no contents', async () => {
  await using work = await openConversions()
  const script = tellStory()
  script.checkIn('Outside', (desk) => desk.put('$/Alpha/notes/outside.txt', 'x'))
  await using server = await startTfvcServer(script)
  const given = [server.url, work.out('alpha.git'), '--project', 'Alpha']
  const { code, output, messages } = await convert(...given, '--dry-run')
  assert.equal(code, 0, messages)
  assert.equal(server.downloads, 0)
  assert.match(output, /\n3 authors: Normal Paulk, Chuck Reinhart, Jürgen <Müller>\n/)
  assert.match(output, /\n {2}notes\/outside\.txt {2}\(\d+; 1 change; outside of branches and tags\)/)
  assert.match(output, /a name that git refuses\)/)
  assert.match(output, /Only lists of changes were read, and they are not kept\./)
  assert.equal(await refsIn(work.out('alpha.git')), '')

  const preview = JSON.parse((await convert(...given, '--dry-run', '--json')).output)
  const converted = JSON.parse((await convert(...given, '--json')).output)
  assert.equal(preview.commit_count, converted.commit_count)
  assert.deepEqual(preview.authors, converted.authors)
  const names = preview.branches.map(({ name }: { name: string }) => `refs/heads/${name}`)
  assert.deepEqual(names.toSorted(), Object.keys(converted.refs).toSorted())
})
