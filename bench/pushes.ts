import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { call, makeFolder, type RunningBelfry, startBelfry } from './belfry.ts'
import { judge, median, note, write } from './report.ts'

const run = promisify(execFile)
const rounds = 40

/** What it costs a push of one commit that all of it is on disk before the answer: the same with nothing synced, in turn. */
export async function comparePushes() {
  using synced = makeFolder()
  using unsynced = makeFolder()
  await using ours = await startBelfry(synced.path, gitThrough(synced.path, []))
  await using theirs = await startBelfry(unsynced.path, {
    ...gitThrough(unsynced.path, ['-c', 'core.fsync=none']),
    NODE_OPTIONS: `--import=${import.meta.resolve('./unsynced.ts')}`,
  })
  const sides = { ours: await openWork(ours, synced.path), theirs: await openWork(theirs, unsynced.path) }
  const times = { ours: [] as number[], theirs: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    for (const name of ['theirs', 'ours'] as const) times[name].push(await pushOne(sides[name], round))
  }
  const [with_syncs, without] = [median(times.ours), median(times.theirs)]
  const ratio = with_syncs / without
  note('push of one commit: ratio', ratio)
  note('push of one commit: ms', with_syncs)
  write('\n| push of one commit | synced, ms | not synced, ms | ratio | target |\n|---|---:|---:|---:|---:|')
  write(
    `| \`git push\` | ${with_syncs.toFixed(0)} | ${without.toFixed(0)} | ${ratio.toFixed(2)} | ${judge(ratio, { most: 1.3 })} |`,
  )
}

/** Belfry finds this git first. Both sides have one, since to start it takes time, too. */
function gitThrough(folder: string, settings: string[]) {
  const [bin, path] = [join(folder, 'bench-bin'), process.env.PATH ?? '']
  mkdirSync(bin)
  // An option prevails over what Belfry sets in git's environment.
  writeFileSync(join(bin, 'git'), `#!/bin/sh\nPATH='${path}' exec git ${settings.join(' ')} "$@"\n`, { mode: 0o755 })
  return { PATH: `${bin}:${path}` }
}

async function openWork(belfry: RunningBelfry, folder: string) {
  await call(belfry, 'POST', '/user/repos', belfry.token, { name: 'small' })
  const work = join(folder, 'work')
  await run('git', ['init', '--quiet', '--initial-branch=main', work])
  await run('git', [
    '-C',
    work,
    'remote',
    'add',
    'origin',
    `http://admin:${belfry.token}@127.0.0.1:${belfry.port}/admin/small.git`,
  ])
  return work
}

async function pushOne(work: string, round: number) {
  writeFileSync(join(work, 'notes.txt'), `${round}\n`)
  const git = (...args: string[]) =>
    run('git', ['-C', work, '-c', 'user.name=Bench', '-c', 'user.email=bench@example.com', ...args])
  await git('add', '.')
  await git('commit', '--quiet', `--message=${round}`)
  const begun = performance.now()
  await git('push', '--quiet', 'origin', 'main')
  return performance.now() - begun
}
