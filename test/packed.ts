import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { until } from '#test/machine.ts'

const exec = promisify(execFile)
const checkout = join(import.meta.dirname, '..')

/** Where the machine's own programs are: its Node, which may be older than ours, and its npm. */
const machinePaths = `${process.env.PATH}`.split(delimiter).filter((path) => !path.includes('node_modules'))
export const machineNode = machinePaths.map((path) => join(path, 'node')).find((path) => existsSync(path)) ?? process.execPath

/** In the folder of the installation: what npm printed when it installed the package. */
export const printed = 'printed.txt'

/** The path of `belfry`, packed with `npm pack` and installed into an empty folder, once in a test run. The path has a space. */
export async function packedBelfry() {
  return join(await packedFolder(), 'node_modules', '.bin', 'belfry')
}

/** The folder into which the package was installed, below `parent`. */
export async function packedFolder(parent = tmpdir()) {
  const built = await builtFolder(parent)
  const [tarball = ''] = (await readdir(built)).filter((name) => name.endsWith('.tgz'))
  return once(join(parent, 'packed'), 'an installation', (folder) => install(join(built, tarball), folder))
}

/** The program as it is in a checkout. */
export const checkoutBelfry = join(checkout, 'bin', 'belfry')

/**
 * The program as it is packed, without an installation, and a cache of what Node compiles: it starts with 1.8 s of processor time, that of a
 * checkout with 3.3 s. Coverage is measured in `src/`, and outside of a test run nothing removes what would be built.
 */
export async function builtBelfry(): Promise<{ program: string; cache?: string }> {
  const { NODE_V8_COVERAGE, BELFRY_TEST_POSTGRES } = process.env
  if (NODE_V8_COVERAGE || !BELFRY_TEST_POSTGRES) return { program: checkoutBelfry }
  const folder = await builtFolder()
  return { program: join(folder, 'bin', 'belfry'), cache: join(folder, 'cache') }
}

/** A copy of it in a new folder, whose `node_modules` the caller puts there. Returns its path. */
export async function copyBelfry(folder: string) {
  const from = join((await builtBelfry()).program, '..', '..')
  for (const name of ['bin', 'dist', 'src', 'migrations', 'package.json'])
    if (existsSync(join(from, name))) await cp(join(from, name), join(folder, name), { recursive: true })
  return join(folder, 'bin', 'belfry')
}

const builtFolder = (parent = tmpdir()) => once(join(parent, 'built'), 'checkout', pack)

/** A folder that the first test to need it makes, in whichever process that is. */
export async function once(shared: string, name: string, make: (draft: string) => Promise<unknown>) {
  const [folder, failed] = [join(shared, name), join(shared, 'failed')]
  if (await claim(shared)) {
    try {
      const draft = join(shared, 'draft')
      await make(draft)
      await rename(draft, folder)
    } catch (error) {
      await writeFile(failed, '')
      throw error
    }
  }
  await until(`${folder} is made`, () => existsSync(folder) || existsSync(failed), 230_000)
  if (existsSync(failed)) throw new Error(`Another test could not make ${folder}`)
  return folder
}

async function claim(folder: string) {
  try {
    await mkdir(folder)
    return true
  } catch {
    return false
  }
}

/** A copy of the checkout is packed, because other tests read package.json meanwhile. */
async function pack(copy: string) {
  await mkdir(copy)
  for (const part of [
    'bin',
    'src',
    'migrations',
    'docs',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'LICENSE',
    'README.md',
  ]) {
    await cp(join(checkout, part), join(copy, part), { recursive: true })
  }
  await symlink(join(checkout, 'node_modules'), join(copy, 'node_modules'))
  await npm(copy, 'pack')
  // bin/belfry prefers it.
  await rm(join(copy, 'src'), { recursive: true })
}

/** Install scripts do not run, because some package managers never run them. */
async function install(tarball: string, folder: string) {
  await mkdir(folder)
  // Without it, npm looks for a project in the folders above.
  await writeFile(join(folder, 'package.json'), '{}')
  const { stderr } = await npm(folder, 'install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', tarball)
  await writeFile(join(folder, printed), stderr)
}

/** As users run it: with the Node of the machine, about which npm warns when a package needs a newer one. */
function npm(cwd: string, ...args: string[]) {
  const env = { ...process.env, PATH: machinePaths.join(delimiter) }
  return exec('npm', [...args, '--loglevel=warn'], { cwd, env, maxBuffer: 1 << 24 })
}
