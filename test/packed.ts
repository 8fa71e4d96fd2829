import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, rename, symlink, writeFile } from 'node:fs/promises'
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
  const shared = join(parent, 'packed')
  const folder = join(shared, 'an installation')
  const failed = join(shared, 'failed')
  if (await claim(shared)) {
    try {
      const draft = join(shared, 'draft')
      await install(await pack(join(shared, 'checkout')), draft)
      await rename(draft, folder)
    } catch (error) {
      await writeFile(failed, '')
      throw error
    }
  }
  await until('the package is installed', () => existsSync(folder) || existsSync(failed), 300_000)
  if (existsSync(failed)) throw new Error('Another test could not pack and install the package')
  return folder
}

/** The first test that needs the package makes it, in whichever process that is. */
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
  const [tarball = ''] = (await readdir(copy)).filter((name) => name.endsWith('.tgz'))
  return join(copy, tarball)
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
