import { writeFile } from 'node:fs/promises'
import type { ProxyMode } from '#test/database-proxy.ts'
import type { Cluster } from './cluster.ts'
import type { Random } from './random.ts'

export interface Fault {
  name: string
  about: string
  /** Breaks something, waits with `hold`, and has repaired it when it ends, also when `hold` rejects. */
  run(cluster: Cluster, hold: (part?: number) => Promise<void>, random: Random): Promise<void>
}

const fault = (name: string, about: string, run: Fault['run']): Fault => ({ name, about, run })

/** Runs `work`, and repairs whatever comes of it. */
async function repaired(work: () => Promise<void>, repair: () => Promise<unknown>) {
  try {
    await work()
  } finally {
    await repair()
  }
}

/** Both proxies behave like this for a while, then open connections are ended and new ones pass. */
const network = (name: string, about: string, mode: ProxyMode) =>
  fault(name, about, async ({ proxies }, hold) => {
    for (const proxy of proxies) await proxy.set(mode)
    await repaired(hold, async () => {
      for (const proxy of proxies) {
        await proxy.set('pass')
        if (mode === 'drop') proxy.reset()
      }
    })
  })

const twoHours = 7_200_000

export const faults: Fault[] = [
  fault('none', 'nothing is broken: what the other rows are compared with', (_, hold) => hold()),
  fault('node-kill', 'kill -9 of a node, and a restart', async (cluster, hold, random) => {
    const node = random.pick(cluster.nodes)
    node.process.kill('SIGKILL')
    await node.process.ended()
    await repaired(hold, () => cluster.restart(node))
  }),
  fault('all-nodes-kill', 'kill -9 of all three nodes at once, and a restart', async (cluster, hold) => {
    for (const node of cluster.nodes) node.process.kill('SIGKILL')
    await Promise.all(cluster.nodes.map((node) => node.process.ended()))
    await repaired(
      () => hold(0.3),
      () => Promise.all(cluster.nodes.map((node) => cluster.restart(node))),
    )
  }),
  fault('node-stop', 'SIGTERM to a node, as an upgrade does, and a start', async (cluster, hold, random) => {
    const node = random.pick(cluster.nodes)
    await node.process.stop()
    await repaired(hold, () => cluster.restart(node))
  }),
  fault('node-pause', 'SIGSTOP of a node, then SIGCONT', async (cluster, hold, random) => {
    const node = random.pick(cluster.nodes)
    node.process.kill('SIGSTOP')
    await repaired(hold, async () => node.process.kill('SIGCONT'))
  }),
  fault('postgres-kill', 'kill -9 of the primary with all its processes, and a restart', async ({ postgres }, hold) => {
    const { primary } = postgres
    await postgres.kill(primary)
    await repaired(
      () => hold(0.5),
      () => postgres.restart(primary),
    )
  }),
  fault('postgres-pause', 'SIGSTOP of the primary with all its processes, then SIGCONT', async ({ postgres }, hold) => {
    const { primary } = postgres
    postgres.signal(primary, 'SIGSTOP')
    await repaired(hold, async () => postgres.signal(primary, 'SIGCONT'))
  }),
  fault('standby-kill', 'kill -9 of the standby, so that no commit ends, and a restart', async ({ postgres }, hold) => {
    const { standby } = postgres
    await postgres.kill(standby)
    await repaired(hold, () => postgres.restart(standby))
  }),
  fault('failover', 'kill -9 of the primary, promotion of the standby, and a new standby', (cluster, hold) =>
    cluster.failOver(hold),
  ),
  fault('failover-behind', 'the standby is paused until the primary is killed, then promoted', async (cluster, hold) => {
    const { postgres } = cluster
    const { primary, standby } = postgres
    postgres.signal(standby, 'SIGSTOP')
    try {
      await hold(0.6)
      await postgres.kill(primary)
    } finally {
      postgres.signal(standby, 'SIGCONT')
    }
    await cluster.failOver(() => hold(0.4))
  }),
  network('network-drop', 'connections to PostgreSQL stay open and carry nothing', 'drop'),
  network('network-stall', 'connections to PostgreSQL carry nothing for a while, then everything', 'stall'),
  network('network-refuse', 'connections to PostgreSQL are reset and refused', 'refuse'),
  fault('network-cut', 'all connections to PostgreSQL are reset again and again', async ({ proxies }, hold) => {
    for (let time = 0; time < 10; time++) {
      for (const proxy of proxies) proxy.reset()
      await hold(0.1)
    }
  }),
  fault('network-slow', 'each piece of data to and from PostgreSQL takes 40 ms', async ({ proxies }, hold) => {
    for (const proxy of proxies) proxy.latency = 40
    await repaired(hold, async () => {
      for (const proxy of proxies) proxy.latency = 0
    })
  }),
  fault('disk-full', 'the file system of the data folder is full', async ({ disk, nodes }, hold) => {
    const pids = nodes.map(({ process }) => process.pid)
    await disk.fill(pids)
    await repaired(hold, () => disk.free(pids))
  }),
  fault('clock-step', "a node's clock steps two hours ahead, then two hours back", async ({ nodes }, hold, random) => {
    const node = random.pick(nodes)
    await writeFile(node.clock, `${twoHours}`)
    const behind = async () => {
      await hold(0.5)
      await writeFile(node.clock, `${-twoHours}`)
      await hold(0.5)
    }
    await repaired(behind, () => writeFile(node.clock, '0'))
  }),
]
