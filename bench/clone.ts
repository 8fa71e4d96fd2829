import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Storage } from '#git/storage.ts'
import { makeFolder, startBelfry } from './belfry.ts'
import { judge, median, note, write } from './report.ts'

const run = promisify(execFile)
const files = 100
const rounds = 7

/** A clone of 100 MB through Belfry, and by git alone from the same disk, in turn. */
export async function compareClones() {
  using folder = makeFolder()
  await using belfry = await startBelfry(folder.path)
  const web = `http://127.0.0.1:${belfry.port}`
  const headers = { authorization: `Bearer ${belfry.token}` }
  const created = await fetch(`${web}/api/v3/user/repos`, { method: 'POST', headers, body: JSON.stringify({ name: 'large' }) })
  const { id } = (await created.json()) as { id: number }
  await push(join(folder.path, 'large'), `http://admin:${belfry.token}@127.0.0.1:${belfry.port}/admin/large.git`)
  const sources = { ours: `${web}/admin/large.git`, theirs: `file://${new Storage(folder.path).pathOf(id)}` }
  const times = { ours: [] as number[], theirs: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    for (const name of ['theirs', 'ours'] as const) times[name].push(await clone(folder.path, sources[name]))
  }
  const ratio = median(times.ours) / median(times.theirs)
  note('clone of 100 MB: ratio', ratio)
  write('\n| clone of 100 MB | through Belfry, s | git alone, s | ratio | target |\n|---|---:|---:|---:|---:|')
  const [ours, theirs] = [median(times.ours), median(times.theirs)].map((ms) => (ms / 1000).toFixed(2))
  write(`| \`git clone\` | ${ours} | ${theirs} | ${ratio.toFixed(2)} | ${judge(ratio, { most: 1.3 })} |`)
}

/** Bytes that no packing makes fewer. */
async function push(path: string, remote: string) {
  mkdirSync(path)
  for (let n = 0; n < files; n++) writeFileSync(join(path, `${n}.bin`), randomBytes(1 << 20))
  const git = (...args: string[]) =>
    run('git', ['-C', path, '-c', 'user.name=Bench', '-c', 'user.email=bench@example.com', ...args])
  await git('init', '--quiet', '--initial-branch=main')
  await git('add', '.')
  await git('commit', '--quiet', '--message=Large')
  await git('push', '--quiet', remote, 'main')
  rmSync(path, { recursive: true })
}

async function clone(folder: string, source: string) {
  const into = mkdtempSync(join(folder, 'clone-'))
  const begun = performance.now()
  await run('git', ['clone', '--quiet', '--bare', source, into])
  const taken = performance.now() - begun
  rmSync(into, { recursive: true })
  return taken
}
