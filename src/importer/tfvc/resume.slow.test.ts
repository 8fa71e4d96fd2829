import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { until } from '#test/machine.ts'
import { openScript, type Script } from '#test/tfvc/script.ts'
import { startTfvcServer } from '#test/tfvc/server.ts'
import { tfvc } from './tfvc.ts'

const program = join(import.meta.dirname, '../../../test/tfvc/convert-process.ts')

function startConverter(url: string, folder: string) {
  const child = spawn(process.execPath, [program, url, folder], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
  const said: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => said.push(chunk))
  const closed = once(child, 'close')
  return {
    async kill() {
      process.kill(-(child.pid ?? 0), 'SIGKILL')
      await closed
    },
    async end(): Promise<{ commit_count: number; megabytes: number }> {
      const [status] = await closed
      assert.equal(status, 0)
      return JSON.parse(Buffer.concat(said).toString())
    },
  }
}

/** Long enough for two checkpoints, with folders that are empty for a while and paths in different spellings. */
function longStory(): Script {
  const script = openScript().checkIn('begun', (desk) =>
    desk.folder('$/Alpha').folder('$/Alpha/Empty').put('$/Alpha/Src/a.txt', '0'),
  )
  // A folder that exists only because of its files.
  const [first] = script.changesets
  if (first) first.changes = first.changes.filter(({ path }) => path !== '$/Alpha/Src')
  for (let index = 1; index < 140; index++) {
    script.checkIn(`change ${index}`, (desk) => {
      if (index === 20) desk.remove('$/Alpha/Src/a.txt')
      else if (index === 120) desk.put('$/Alpha/SRC/A.TXT', '1').put('$/Alpha/EMPTY/b.txt', '1')
      else if (index % 50 === 49) desk.remove(`$/Alpha/Files/${index - 9}.txt`)
      else desk.put(`$/Alpha/Files/${index}.txt`, `${index}`).put('$/Alpha/Files/same.txt', `${index % 7}`)
    })
  }
  return script
}

test('a killed import resumes from its last checkpoint and gives the same result', async () => {
  const script = longStory()
  let hold = true
  await using server = await startTfvcServer(script, {
    meddle: async ({ path }) => {
      while (hold && /changesets\/110\/changes$/.test(path)) await wait(20)
      return false
    },
  })
  await using workspace = await openWorkspace()
  const isThere = async (count: number) =>
    (await workspace.git('rev-list', '--count', 'refs/import/raw').catch(() => '')) === String(count)
  const first = startConverter(server.url, workspace.folder)
  await until('it came far', () => server.asked.some(({ path }) => path.endsWith('/110/changes')))
  await until('two checkpoints were made', () => isThere(100))
  await first.kill()
  hold = false
  assert.equal(await workspace.git('rev-list', '--count', 'refs/import/raw'), '100')
  // Lines and marks after the checkpoint are ignored.
  const log = join(workspace.folder, 'revisions.jsonl')
  writeFileSync(log, `${readFileSync(log, 'utf8')}{"number":101,"half`)
  writeFileSync(join(workspace.folder, 'raw.marks'), '')
  const before = server.asked.length
  // Later changesets of the source are not imported.
  script.checkIn('later', (desk) => desk.put('$/Alpha/later.txt', 'later'))
  assert.equal((await startConverter(server.url, workspace.folder).end()).commit_count, 140)
  const again = server.asked.slice(before).filter(({ path }) => /changes$/.test(path))
  assert.equal(again.length, 40)

  script.changesets.pop()
  await using other = await openWorkspace()
  const origin = originOf(server.url)
  await tfvc.convert(origin, other)
  assert.equal(await workspace.git('rev-parse', 'refs/import/raw'), await other.git('rev-parse', 'refs/import/raw'))
  const names = (await other.git('ls-tree', '-r', '--name-only', 'refs/import/raw')).split('\n')
  assert.ok(names.includes('Empty/b.txt') && names.includes('Src/A.TXT'))
  assert.deepEqual(
    readFileSync(log, 'utf8')
      .split('\n')
      .map((line) => line && JSON.parse(line).number),
    readFileSync(join(other.folder, 'revisions.jsonl'), 'utf8')
      .split('\n')
      .map((line) => line && JSON.parse(line).number),
  )
  for (const one of [workspace, other]) await tfvc.arrange?.(origin, one)
  const head = 'refs/import/orig/heads/main'
  assert.equal(await workspace.git('rev-parse', head), await other.git('rev-parse', head))
  await workspace.git('fsck', '--strict')

  // A repeated conversion requests nothing; another project starts over.
  const calls = server.asked.length
  assert.equal((await tfvc.convert(origin, other)).commit_count, 140)
  assert.ok(server.asked.length - calls < 6)
})

test('a large file is not held in memory', async () => {
  const large = Buffer.concat(Array(80).fill(randomBytes(1 << 20)))
  const script = openScript()
    .checkIn('large', (desk) => desk.put('$/Alpha/large.bin', large))
    .checkIn('again', (desk) => desk.put('$/Alpha/copy.bin', large))
  await using server = await startTfvcServer(script)
  await using workspace = await openWorkspace()
  const { megabytes } = await startConverter(server.url, workspace.folder).end()
  assert.ok(megabytes < 200, `${megabytes} MB`)
  assert.equal(server.downloads, 1)
  assert.equal(await workspace.git('cat-file', '-s', 'refs/import/raw:copy.bin'), String(large.length))
  assert.equal(existsSync(join(workspace.folder, 'contents')), false)
})

test('a stopped import ends at once', async () => {
  const script = longStory()
  await using workspace = await openWorkspace()
  await using server = await startTfvcServer(script, {
    meddle: async ({ number }) => {
      if (number === 100) workspace.stop()
      // A hanging server is not awaited.
      if (number > 95) await new Promise(() => {})
      return false
    },
  })
  await assert.rejects(tfvc.convert(originOf(server.url), workspace), /stopped/)
  assert.equal(existsSync(join(workspace.folder, 'contents')), false)
})
