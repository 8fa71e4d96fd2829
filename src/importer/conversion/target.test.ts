import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { identityOf } from '#platform/processes.ts'
import { until } from '#test/machine.ts'
import { openTarget, workFolderOf } from './target.ts'

test('a conversion waits for one that runs, not for one that was killed', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'belfry-target-'))
  const target = join(folder.path, 'a.git')
  const lock = join(workFolderOf(target), 'lock')
  await (await openTarget(target, 'main'))[Symbol.asyncDispose]()
  // A program that does not wait for its children: the child stays as a zombie.
  const parent = spawn('sh', ['-c', 'sleep 600 & echo $!; exec sleep 600'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [line] = await once(parent.stdout, 'data')
  const child = Number(line)
  await writeFile(lock, identityOf(child) ?? '')
  await assert.rejects(openTarget(target, 'main'), /Another conversion .* is running, as process \d+/)
  process.kill(child, 'SIGKILL')
  await until('it is a zombie', () => identityOf(child) === undefined)
  assert.doesNotThrow(() => process.kill(child, 0))
  await (await openTarget(target, 'main'))[Symbol.asyncDispose]()
  // Another process has its id.
  await writeFile(lock, `${parent.pid} 1`)
  await (await openTarget(target, 'main'))[Symbol.asyncDispose]()
  parent.kill()
})
