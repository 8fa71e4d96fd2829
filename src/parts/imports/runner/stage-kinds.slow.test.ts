import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { git } from '#git/git.ts'
import { sql } from '#platform/database.ts'
import { expect } from '#test/forge.ts'
import { hgEnvironment } from '#test/imports/hg.ts'
import { startHgServer } from '#test/imports/hg-server.ts'
import { begin, openRuns, type Runs, run } from '#test/imports/runs.ts'
import { until } from '#test/machine.ts'
import { openS3 } from '#test/s3.ts'
import { openScript } from '#test/tfvc/script.ts'
import { startTfvcServer } from '#test/tfvc/server.ts'

interface Source extends AsyncDisposable {
  vcs_url: string
  addCommit(): Promise<void>
}

const kinds: Record<string, (runs: Runs) => Promise<Source>> = {
  async git({ server, source: { work } }) {
    return {
      vcs_url: `${server.url}/open/source.git`,
      async addCommit() {
        await work.git('checkout', '--quiet', 'main')
        await work.commit('More', { 'more.txt': 'more\n' })
        await work.push('main')
      },
      async [Symbol.asyncDispose]() {},
    }
  },
  async mercurial() {
    const folder = mkdtempSync(join(tmpdir(), 'belfry-stage-hg-'))
    const hg = (...args: string[]) => execFileSync('hg', args, { cwd: folder, env: hgEnvironment })
    const commit = (message: string) => {
      writeFileSync(join(folder, `${message}.txt`), 'text\n')
      hg('commit', '--quiet', '--addremove', '--user', 'Ada <ada@example.com>', '--message', message)
    }
    hg('init')
    commit('Begin')
    const server = await startHgServer(folder)
    return {
      vcs_url: server.url,
      addCommit: async () => commit('More'),
      async [Symbol.asyncDispose]() {
        await server[Symbol.asyncDispose]()
        rmSync(folder, { recursive: true })
      },
    }
  },
  async tfvc() {
    const script = openScript()
      .checkIn('', (desk) => desk.folder('$/Alpha'))
      .checkIn('Begin', (desk) => desk.folder('$/Alpha/Main').put('$/Alpha/Main/a.txt', 'one'))
    const server = await startTfvcServer(script)
    return {
      vcs_url: `${server.url}/Alpha`,
      addCommit: async () => void script.checkIn('More', (desk) => desk.put('$/Alpha/Main/more.txt', 'more')),
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    }
  },
}

for (const [vcs, openSource] of Object.entries(kinds))
  test(`another node continues a ${vcs} import from the bucket`, async () => {
    await using s3 = await openS3()
    await using runs = await openRuns(s3.settings({ BELFRY_IMPORT_KEEP: '1' }))
    const { forge, ada, root } = runs
    await using source = await openSource(runs)
    const imported = await begin(ada, 'engine', { vcs, vcs_url: source.vcs_url })
    const subjects = () => git(['-C', forge.belfry.storage.pathOf(imported.repo.id), 'log', '--format=%s', '--all'])
    const stages = () => forge.belfry.db.rows<{ run: number; oid: string }>(sql`select run, oid from import_stages`)
    const isStored = (folder: string, last: number) =>
      until(`the folder of run ${last} is in the bucket`, async () => {
        return (await stages())[0]?.run === last && readdirSync(folder).length === 0
      })
    {
      await using _ = run(forge)
      await imported.reaches('complete')
      await isStored(root, 1)
    }
    const before = await subjects()
    const [first] = await stages()
    assert.ok(first)

    await source.addCommit()
    s3.seen.length = 0
    const other = join(root, '..', 'other')
    await using _ = run(forge, { BELFRY_DATA: other })
    await expect(200, await ada.patch(imported.path, {}))
    await imported.reaches('complete')
    assert.deepEqual((await subjects()).split('\n').sort(), `More\n${before}`.split('\n').sort())
    assert.deepEqual((await ada.read(`${imported.path}/report`)).mismatches, [])
    assert.equal(s3.seen.filter((line) => line.startsWith('GET') && line.includes(first.oid)).length, 1, 'the folder was fetched')
    assert.ok(!forge.logged.some((line) => line.includes('starts over')))
    await isStored(join(other, 'imports'), 2)
  })
