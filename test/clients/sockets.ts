/** Whom a program and all that it starts connect to, as the kernel is asked: where the machine has `strace` and allows it. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'

export function canWatch(): boolean {
  return spawnSync('strace', [...OPTIONS, '-o', '/dev/null', 'true']).status === 0
}

/** Names are asked for without a connection too. */
const OPTIONS = ['-f', '-qq', '--seccomp-bpf', '-e', 'trace=connect,sendto,sendmsg,sendmmsg']

/** The command that runs it and notes down what it connects to. */
export function watched(file: string, command: readonly string[]): readonly string[] {
  return ['strace', ...OPTIONS, '-o', file, ...command]
}

/** Addresses and ports that are not `port` of this machine, each once, with how it went: `8.8.8.8:53 ENETUNREACH`. */
export function socketsIn(file: string, port: number): readonly string[] {
  const found = new Set<string>()
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const address = /sa_family=AF_INET6?, .*?(?:inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)")/.exec(
      line,
    )
    const at = Number(/sin6?_port=htons\((\d+)\)/.exec(line)?.[1])
    const to = address?.[1] ?? address?.[2]
    if (to === undefined || ((to === '127.0.0.1' || to === '::1') && at === port)) continue
    found.add(`${to}:${at} ${/= -1 (\w+)/.exec(line)?.[1] ?? 'connected'}`)
  }
  return [...found]
}

export function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => done(port))
    })
  })
}
