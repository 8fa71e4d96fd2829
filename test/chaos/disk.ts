import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { childrenOf } from '#test/machine.ts'

const exec = promisify(execFile)
/** Nothing is reserved: this is how far it may grow. */
const roomy = 'size=2g,mode=711'

/**
 * The file system of the data folder. It is a tmpfs of its own if this account may mount one, and can then be full for every program. Otherwise
 * nodes and their git processes get a limit on the size of files, which fails their writes in the same places.
 */
export class Disk implements AsyncDisposable {
  readonly folder: string
  readonly mounted: boolean

  static async open() {
    const folder = await mkdtemp(join(tmpdir(), 'belfry-disk-'))
    await chmod(folder, 0o711)
    const mounted = await exec('mount', ['-t', 'tmpfs', '-o', roomy, 'belfry-chaos', folder]).then(
      () => true,
      () => false,
    )
    return new Disk(folder, mounted)
  }

  constructor(folder: string, mounted: boolean) {
    this.folder = folder
    this.mounted = mounted
  }

  /** Leaves space for a few small files: some writes fail in the middle. */
  async fill(nodes: number[]) {
    if (!this.mounted) return limitFiles(nodes, '4096')
    // The system refuses a size below what is used, and the load goes on writing after it was read.
    for (let attempt = 1; ; attempt++) {
      const { blocks, bfree, bsize } = await statfs(this.folder)
      const size = (blocks - bfree) * bsize + 16_384
      const error = await exec('mount', ['-o', `remount,size=${size}`, this.folder]).then(
        () => undefined,
        (failure: Error) => failure,
      )
      if (!error) return
      if (attempt === 50) throw error
    }
  }

  async free(nodes: number[]) {
    if (!this.mounted) return limitFiles(nodes, 'unlimited')
    await exec('mount', ['-o', `remount,${roomy}`, this.folder])
  }

  async [Symbol.asyncDispose]() {
    if (this.mounted) await exec('umount', ['--lazy', this.folder])
    await rm(this.folder, { recursive: true, force: true })
  }
}

async function limitFiles(nodes: number[], bytes: string) {
  for (const pid of nodes.flatMap((node) => [node, ...childrenOf(node)]))
    await exec('prlimit', ['--pid', `${pid}`, `--fsize=${bytes}:`]).catch(() => {})
}
