import { randomBytes } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Belfry } from '#belfry.ts'
import { git } from '#git/git.ts'
import { openImports } from '#parts/imports/jobs.ts'
import { expect, type Forge, openForge, type Person } from '#test/forge.ts'
import { commandOf, processesIn, until } from '#test/machine.ts'
import { startGitServer } from './git-server.ts'

/** A worker that has started a step. */
export interface StartedStep {
  step: 'detect' | 'import' | 'map' | 'push' | 'correct'
  folder: string
  /** The process group. */
  group: number
}

/** A forge without a runner, and a git server with a repository to import. */
export async function openRuns(settings: Record<string, string> = {}) {
  await using undo = new AsyncDisposableStack()
  const server = undo.use(await startGitServer())
  const forge = undo.use(
    await openForge({ settings: { BELFRY_IMPORT_ADDRESSES: 'loopback', BELFRY_IMPORT_KEEP: '0', ...settings } }),
  )
  const source = await makeSource(server)
  const ada = await forge.person('ada')
  const root = join(forge.belfry.settings.BELFRY_DATA, 'imports')
  const startedSteps: StartedStep[] = []
  const listeners = new Set<(each: StartedStep) => void>()
  const hear = (message: unknown) => {
    const each = message as StartedStep
    if (!each.folder.startsWith(root)) return
    startedSteps.push(each)
    for (const listener of listeners) listener(each)
  }
  subscribe('belfry:imports:step-started', hear)
  undo.defer(() => void unsubscribe('belfry:imports:step-started', hear))
  const running = undo.move()
  return {
    forge,
    server,
    source,
    ada,
    root,
    /** Every started step, in order. */
    startedSteps,
    /** Calls back when a step starts. */
    onStepStarted: (listener: (each: StartedStep) => void) => void listeners.add(listener),
    /** The processes and files of imports on this machine. */
    leftovers: async () => [...processesIn(root), ...(existsSync(root) ? await readdir(root) : [])],
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

export type Runs = Awaited<ReturnType<typeof openRuns>>

async function makeSource(server: Awaited<ReturnType<typeof startGitServer>>) {
  const source = await server.make('source')
  const { work } = source
  // Larger than a pipe buffer, so that it can be paused.
  await work.commit('One', { 'a.txt': 'one\n', 'large.bin': randomBytes(300_000) })
  await work.commit('Two', { 'b/c.txt': 'two\n' })
  await work.git('tag', '-a', '-m', 'The first', 'v1')
  await work.git('checkout', '--quiet', '-b', 'side')
  await work.commit('Three', { 'd.txt': 'three\n' })
  await work.git('push', '--quiet', 'origin', 'main', 'side', 'v1')
  return source
}

/** Packs are paused in the middle until they are released. */
export function hold({ server, root }: Runs) {
  const held = Promise.withResolvers<void>()
  server.hold(held.promise)
  return {
    letGo: held.resolve,
    /** Waits until a client has a part of one. */
    reached: () => until('a pack is coming', () => processesIn(root).some((pid) => commandOf(pid).includes('index-pack'))),
  }
}

/** Runs imports until it is disposed. */
export function run({ belfry }: Forge, settings: Partial<Belfry['settings']> = {}): AsyncDisposable {
  const runner = openImports({ ...belfry, settings: { ...belfry.settings, ...settings } })
  return { [Symbol.asyncDispose]: () => runner.stop() }
}

/** A running import, as its owner sees it. */
export async function begin(person: Person, name: string, body: Record<string, unknown>) {
  const repo = await person.owns(name)
  const path = `/repos/${person.login}/${name}/import`
  await expect(201, await person.put(path, body))
  return {
    path,
    repo,
    read: () => person.read(path),
    /** Waits for this status; another end is an error. */
    async reaches(status: string) {
      let found = await person.read(path)
      const look = async () => {
        found = await person.read(path)
        return /^(error|auth_failed|complete|detection_.*)$/.test(found.status) || found.status === status
      }
      await until(`${name} is ${status}`, look).catch((error) => Promise.reject(Object.assign(error, { found })))
      if (found.status !== status) throw new Error(`${name} is not ${status}: ${JSON.stringify(found)}`)
      return found
    },
  }
}

/** Branches and tags of a repository on disk, by name. */
export async function refsIn(path: string): Promise<string> {
  return git(['-C', path, 'for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads', 'refs/tags'])
}

export const refsOf = async (forge: Forge, { id }: { id: number }) => refsIn(forge.belfry.storage.pathOf(id))
