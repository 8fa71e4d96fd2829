import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { type Command, launch, type Program, spawnProgram } from './launcher.ts'

const command = (file: string, ...args: string[]): Command => ({ file, args, env: { PATH: process.env.PATH } })
const sh = (script: string) => command('sh', '-c', script)

/** The id of the process that started a shell, which it prints. */
async function parentOf(program: Program) {
  program.stdin.end()
  const [output] = await Promise.all([text(program.stdout), program.closed])
  return Number(output)
}

/** Waits until programs are started by the small process, and returns its id. */
async function warmUp() {
  for (;;) {
    const parent = await parentOf(await launch(sh('echo $PPID')))
    if (parent !== process.pid) return parent
  }
}

test('after the first programs a small process starts the others', async () => {
  const parent = await warmUp()
  assert.match(readFileSync(`/proc/${parent}/cmdline`, 'utf8'), /launcher-process/)
  assert.equal(await parentOf(await launch(sh('echo $PPID'))), parent)
})

test('a program gets its input whole, and its output and errors arrive apart', async () => {
  await warmUp()
  const program = await launch(sh('cat; echo complaint >&2; exit 3'))
  const bytes = Buffer.alloc(20 << 20, 'belfry')
  program.stdin.end(bytes)
  const [output, errors, exit] = await Promise.all([text(program.stdout), text(program.stderr), program.closed])
  assert.ok(output === bytes.toString())
  assert.equal(errors, 'complaint\n')
  assert.deepEqual(exit, { status: 3, signal: null })
})

test('fifty programs at once do not mix their streams', async () => {
  await warmUp()
  const outputs = await Promise.all(
    Array.from({ length: 50 }, async (_, index) => {
      const program = await launch(sh('read word; echo $word; echo $word >&2'))
      program.stdin.end(`${index}\n`)
      const [output, errors] = await Promise.all([text(program.stdout), text(program.stderr), program.closed])
      return [Number(output), Number(errors)]
    }),
  )
  assert.deepEqual(
    outputs,
    Array.from({ length: 50 }, (_, index) => [index, index]),
  )
})

test('a program and its children have a channel, which closes with the program', async () => {
  for (const start of [launch, (wanted: Command) => spawnProgram(wanted, true)]) {
    await warmUp()
    const script = 'sh -c "echo question >&3; read -r answer <&3; echo \\$answer"; sleep 3 >/dev/null 2>&1 </dev/null &'
    const program = await start({ ...sh(script), channel: true })
    // Later than the program reads.
    program.channel?.once('data', (question) => setTimeout(() => program.channel?.write(`answer to ${question}`), 50))
    assert.equal(await text(program.stdout), 'answer to question\n')
    assert.equal((await program.closed).status, 0)
  }
})

test('output that no one reads does not keep a program open', async () => {
  await warmUp()
  const program = await launch(sh('echo unread; echo unread >&2'))
  assert.deepEqual(await program.closed, { status: 0, signal: null })
})

test('a program has its own process group, and a signal ends all of it', async () => {
  await warmUp()
  const program = await launch(sh('sleep 60 & echo $!; wait'))
  const [child] = await program.stdout.take(1).toArray()
  program.kill('SIGKILL')
  assert.deepEqual(await program.closed, { status: null, signal: 'SIGKILL' })
  assert.throws(() => readlinkSync(`/proc/${Number(child)}/cwd`), /ENOENT/)
  program.kill()
})

test('a program that does not exist is the error that Node gives', async () => {
  await warmUp()
  for (const start of [launch, (missing: Command) => spawnProgram(missing, true)])
    await assert.rejects(start(command('belfry-missing')), { code: 'ENOENT', syscall: 'spawn belfry-missing' })
  await assert.rejects(launch({ ...sh('true'), cwd: '/nonexistent' }), { code: 'ENOENT' })
})

test('when the small process dies, its programs end and the next ones start', async () => {
  const parent = await warmUp()
  const program = await launch(sh('sleep 60'))
  process.kill(parent, 'SIGKILL')
  assert.deepEqual(await program.closed, { status: null, signal: 'SIGTERM' })
  assert.notEqual(await warmUp(), parent)
})

test('signals to the small process do not end it', async () => {
  const parent = await warmUp()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(parent, signal)
  assert.equal(await warmUp(), parent)
})

test('a process that is killed leaves no folder behind', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'belfry-killed-'))
  const script = `const { launch } = await import(${JSON.stringify(join(import.meta.dirname, 'launcher.ts'))})
    await launch({ file: 'true', args: [], env: process.env })
    setInterval(() => {}, 1000)`
  const options = { env: { ...process.env, TMPDIR: folder.path }, stdio: 'ignore' as const }
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], options)
  const isReady = () => readdirSync(folder.path).some((name) => existsSync(join(folder.path, name, 'socket')))
  while (!isReady() || !hasLauncher(child.pid)) await new Promise((later) => setTimeout(later, 20))
  child.kill('SIGKILL')
  while (readdirSync(folder.path).length > 0) await new Promise((later) => setTimeout(later, 20))
})

/** Whether its small process runs. */
const hasLauncher = (pid = 0) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .some((child) => child !== '' && readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('launcher-process'))
