import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { packedFolder } from '#test/packed.ts'

const exec = promisify(execFile)

/** A server that a test suite starts for itself. */
export interface Contender {
  name: string
  /** Makes the next start the first one after an installation. */
  forget?(): void
  start(): Promise<Started>
}

export interface Started extends AsyncDisposable {
  /** The base of the API. */
  base: string
  tokens: { alice: string; bob: string }
  /** Null if it keeps no state. */
  reset: (() => Promise<void>) | null
  pid: number | undefined
}

/** Packs Belfry and installs it, as those who test with it have it. */
export async function installBelfry(folder: string): Promise<Contender> {
  const caches = join(folder, 'caches')
  process.env.XDG_CACHE_HOME = caches
  const installed = join(await packedFolder(folder), 'node_modules', 'belfry', 'dist', 'testing', 'index.js')
  const { startBelfry } = (await import(installed)) as typeof import('#testing/index.ts')
  return {
    name: 'Belfry',
    forget: () => rmSync(caches, { recursive: true, force: true }),
    async start() {
      const files = { 'README.md': '# Tower' }
      const server = await startBelfry({
        seed: { users: [{ login: 'alice' }, { login: 'bob' }], repositories: [{ name: 'alice/tower', files }] },
      })
      return {
        base: `${server.url}/api/v3`,
        tokens: { alice: server.users.alice?.token ?? '', bob: server.users.bob?.token ?? '' },
        reset: () => server.reset(),
        pid: server.pid,
        [Symbol.asyncDispose]: () => server.close(),
      }
    },
  }
}

/** Installs the others into a folder. Returns what cannot be installed, with the reason. */
export async function installEmulators(folder: string) {
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  const npm = (name: string) =>
    exec('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--silent', name], {
      cwd: folder,
      timeout: 120_000,
    }).then(
      () => undefined,
      (error: Error) => error.message.split('\n')[0],
    )
  return {
    emulate: { reason: await npm('emulate@0.12.2'), contender: emulate(folder) },
    prism: { reason: await npm('@stoplight/prism-cli@5.16.0'), contender: prism(folder) },
  }
}

/** An emulator in memory, of the same API among others. Tests load it into their own process. */
function emulate(folder: string): Contender {
  const driver = `import { createEmulator } from 'emulate'
import { createInterface } from 'node:readline'
const github = await createEmulator({ service: 'github', port: 0, seed: {
  tokens: { alice: { login: 'alice', scopes: ['repo', 'notifications'] }, bob: { login: 'bob', scopes: ['repo'] } },
  github: { users: [{ login: 'alice' }, { login: 'bob' }], repos: [{ owner: 'alice', name: 'tower', auto_init: true }] },
} })
console.log(github.url)
for await (const _ of createInterface({ input: process.stdin })) { await github.reset(); console.log('reset') }
process.exit()
`
  return {
    name: 'emulate 0.12.2',
    async start() {
      writeFileSync(join(folder, 'driver.mjs'), driver)
      const child = spawn(process.execPath, ['driver.mjs'], { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] })
      const lines = createInterface({ input: child.stdout })
      const [base] = (await once(lines, 'line')) as [string]
      return {
        base,
        tokens: { alice: 'alice', bob: 'bob' },
        async reset() {
          child.stdin.write('reset\n')
          await once(lines, 'line')
        },
        pid: child.pid,
        [Symbol.asyncDispose]: () => end(child),
      }
    },
  }
}

/** Answers with examples of the public description, without state. */
function prism(folder: string): Contender {
  const openapi = createRequire(import.meta.url).resolve('@octokit/openapi')
  const description = join(dirname(openapi), 'generated', 'api.github.com.json')
  return {
    name: 'Prism 5.16.0',
    async start() {
      const program = join(folder, 'node_modules', '.bin', 'prism')
      const child = spawn(program, ['mock', '--port', '4597', '--host', '127.0.0.1', description], { cwd: folder, stdio: 'pipe' })
      for await (const line of createInterface({ input: child.stdout })) if (/is listening/.test(line)) break
      child.stdout.resume()
      child.stderr.resume()
      return {
        base: 'http://127.0.0.1:4597',
        tokens: { alice: 'alice', bob: 'bob' },
        reset: null,
        pid: child.pid,
        [Symbol.asyncDispose]: () => end(child),
      }
    },
  }
}

async function end(child: ChildProcess) {
  if (child.exitCode !== null) return
  child.kill()
  await once(child, 'exit')
}
