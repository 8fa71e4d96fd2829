import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { Storage } from '#git/storage.ts'
import { call, makeFolder, type RunningBelfry, startBelfry } from './belfry.ts'
import { judge, median, note, write } from './report.ts'

const run = promisify(execFile)
const commits = 50_000
const megabytes = 100
const rounds = 15

/** Everyday reads of large repositories: lists of commits and archives. */
export async function measureEveryday() {
  using folder = makeFolder()
  await using belfry = await startBelfry(folder.path)
  const storage = new Storage(folder.path)
  const long = await call(belfry, 'POST', '/user/repos', belfry.token, { name: 'long' })
  await importInto(storage.pathOf(long.id), longHistory())
  write(`\n| page | ms | target |\n|---|---:|---:|`)
  const page = '/repos/admin/long/commits?per_page=30'
  await report(belfry, `first 30 of ${commits} commits`, page, 30)
  await report(belfry, 'last 30', `${page}&page=${Math.ceil(commits / 30)}`)
  const large = await call(belfry, 'POST', '/user/repos', belfry.token, { name: 'large' })
  await importInto(storage.pathOf(large.id), largeFiles())
  await compareArchives(belfry, storage.pathOf(large.id))
}

async function importInto(path: string, pieces: Iterable<Buffer>) {
  const git = spawn('git', ['-C', path, 'fast-import', '--quiet'], { stdio: ['pipe', 'inherit', 'inherit'] })
  for (const piece of pieces) if (!git.stdin.write(piece)) await once(git.stdin, 'drain')
  git.stdin.end()
  await once(git, 'close')
}

const commit = (n: number) =>
  `commit refs/heads/main\ncommitter Bench <bench@example.com> ${1_600_000_000 + 60 * n} +0000\ndata ${`Change ${n}`.length}\nChange ${n}\n`

function* longHistory() {
  for (let n = 0; n < commits; n++) {
    const text = `Line ${n}`
    yield Buffer.from(`${commit(n)}M 644 inline folder-${n % 50}/file-${n % 500}.txt\ndata ${text.length}\n${text}\n`)
  }
}

/** Bytes that no packing makes fewer. */
function* largeFiles() {
  yield Buffer.from(commit(0))
  for (let n = 0; n < megabytes; n++) {
    const bytes = randomBytes(1 << 20)
    yield Buffer.concat([Buffer.from(`M 644 inline ${n}.bin\ndata ${bytes.length}\n`), bytes, Buffer.from('\n')])
  }
}

async function report(belfry: RunningBelfry, name: string, path: string, most?: number) {
  const times: number[] = []
  for (let round = 0; round < rounds + 3; round++) {
    const begun = performance.now()
    await call(belfry, 'GET', path, belfry.token)
    times.push(performance.now() - begun)
  }
  const taken = median(times.slice(3))
  note(`${name}: ms`, taken)
  write(`| ${name} | ${taken.toFixed(1)} | ${judge(taken, most === undefined ? undefined : { most })} |`)
}

async function compareArchives(belfry: RunningBelfry, path: string) {
  const url = `http://127.0.0.1:${belfry.port}/api/v3/repos/admin/large/tarball/main`
  const header = `Authorization: Bearer ${belfry.token}`
  const [ours, theirs]: [number[], number[]] = [[], []]
  for (let round = 0; round < 5; round++) {
    theirs.push(await time(() => run('git', ['-C', path, 'archive', '--format=tar.gz', '--output=/dev/null', 'main'])))
    ours.push(await time(() => run('curl', ['--silent', '--fail', '--location', '--output', '/dev/null', '-H', header, url])))
  }
  const ratio = median(theirs) / median(ours)
  note(`tarball of ${megabytes} MB: ratio`, ratio)
  write(`\n| tarball of ${megabytes} MB | Belfry, s | git archive, s | ratio | target |\n|---|---:|---:|---:|---:|`)
  const seconds = [ours, theirs].map((times) => (median(times) / 1000).toFixed(2))
  write(`| | ${seconds.join(' | ')} | ${ratio.toFixed(2)} | ${judge(ratio, { least: 0.8 })} |`)
}

async function time(work: () => Promise<unknown>) {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}
