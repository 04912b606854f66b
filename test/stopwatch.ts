/** Milliseconds that this process has worked since, whatever else the machine was busy with. */
export function stopwatch(): () => number {
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
}
