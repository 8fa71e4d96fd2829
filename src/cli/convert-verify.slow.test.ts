import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { convert, openConversions } from '#test/imports/convert-command.ts'
import { makeSvnRepository } from '#test/imports/svn-dump.ts'
import { tellCorners } from '#test/imports/svn-repository.ts'
import { openSvnFolder } from '#test/imports/svn-servers.ts'

test('messages, authors and dates that differ from the source are named', async () => {
  await using source = await openSvnFolder()
  await using work = await openConversions()
  const path = join(source.path, 'mill')
  await makeSvnRepository(path, (history) => tellCorners(history))
  const out = work.out('mill.git')
  const dump = () => writeFile(work.out('mill.dump'), execFileSync('svnadmin', ['dump', '--quiet', path], { maxBuffer: 1 << 26 }))
  await dump()
  for (const [from, to] of [
    [path, out],
    [work.out('mill.dump'), work.out('dump.git')],
  ] as const)
    assert.match((await convert(from, to, '--verify', 'full')).output, /with the source: no differences\.$/)
  const set = async (revision: string, name: string, value: string) => {
    await writeFile(work.out('value'), value)
    execFileSync('svnadmin', ['setrevprop', path, '-r', revision, name, work.out('value')])
  }
  await set('2', 'svn:log', 'Another\n')
  await set('3', 'svn:author', 'another')
  await set('4', 'svn:date', '2001-02-03T04:05:06.000000Z')
  await dump()
  for (const [from, to] of [
    [path, out],
    [work.out('mill.dump'), work.out('dump.git')],
  ] as const) {
    const { code, output } = await convert(from, to, '--verify', 'full')
    assert.equal(code, 1)
    assert.match(output, /revision 2 of trunk has another log message\n/)
    assert.match(output, /revision 3 of trunk has another author\n/)
    assert.match(output, /revision 4 of trunk has another date\n?/)
  }
})
