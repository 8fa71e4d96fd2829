import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { connectBelfry } from 'belfry/testing'

const program = join(import.meta.dirname, '..', '..', 'bin', 'belfry')

/** Folders of this server's PostgreSQL and repositories. */
const foldersOf = (pid: number | undefined) =>
  ['/dev/shm', tmpdir()].flatMap((folder) => readdirSync(folder)).filter((name) => name.startsWith(`belfry-test-server-${pid}-`))

async function accessOf(child: ChildProcess): Promise<{ control: string }> {
  const [line] = (await once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data')) as [Buffer]
  return JSON.parse(`${line}`)
}

test('a mistake in the seed file is reported before PostgreSQL is started', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-seed-'))
  const seed = join(folder, 'seed.yaml')
  await writeFile(seed, 'users: [{login: alice}]\nrepositories: [{name: carol/tower}]\n')
  // At the debug level, everything that PostgreSQL says is logged.
  const child = spawn(program, ['test-server', '--seed', seed, '--log', 'debug'], { stdio: ['pipe', 'pipe', 'pipe'] })
  const [printed, said, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  assert.deepEqual([printed, status], ['', 1])
  assert.match(said, /^[^\n]*seed\.yaml.*there is no user .*"carol"[^\n]*\n$/s)
  await rm(folder, { recursive: true })
})

test('a server without a pipe ends with the process that --parent names', async () => {
  const parent = spawn('sleep', ['600'])
  const child = spawn(program, ['test-server', '--parent', `${parent.pid}`], { stdio: ['ignore', 'pipe', 'inherit'] })
  await accessOf(child)
  assert.equal(foldersOf(child.pid).length, 1)
  const ended = once(child, 'exit')
  parent.kill('SIGKILL')
  assert.deepEqual(await ended, [0, null])
  assert.deepEqual(foldersOf(child.pid), [])
})

test('--parent must be a running process', async () => {
  const child = spawn(program, ['test-server', '--parent', '0'], { stdio: ['pipe', 'pipe', 'pipe'] })
  const [said, [status]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  assert.match(said, /^--parent is "0", which is no running process\. Run npx belfry test-server --help/)
  assert.equal(status, 2)
})

test('a server that ends while a world opens says nothing', async () => {
  const child = spawn(program, ['test-server'], { stdio: ['pipe', 'pipe', 'pipe'] })
  const said = text(child.stderr)
  const world = await connectBelfry((await accessOf(child)).control)
  // Many, because a fast machine opens the first ones before the server ends.
  const opening = Promise.allSettled(Array.from({ length: 12 }, () => world.world({ seed: { users: [{ login: 'alice' }] } })))
  // Until the calls have arrived.
  await world.clock.now()
  child.stdin.end()
  const [status] = await once(child, 'exit')
  assert.deepEqual([await said, status], ['', 0])
  assert.ok((await opening).some(({ status }) => status === 'rejected'))
  assert.deepEqual(foldersOf(child.pid), [])
})
