/** Puts a text where it can be pasted from, and says that it did. */
import { useState } from 'preact/hooks'
import { announce } from '../state/announce.ts'
import { Button } from './button.tsx'

export type CopyButtonProps = {
  readonly text: () => string | Promise<string>
  readonly label: string
  readonly children?: string
}

export function CopyButton({ text, label, children = 'Copy' }: CopyButtonProps) {
  const [isDone, setDone] = useState(false)
  const copy = async (): Promise<void> => {
    if (!(await copyText(await text()))) return
    setDone(true)
    setTimeout(() => setDone(false), 1500)
  }
  return (
    <Button kind="plain" class="copy" label={label} onClick={() => void copy()}>
      {isDone ? 'Copied' : children}
    </Button>
  )
}

/** Says whether it could: browsers refuse where nobody pressed anything. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    announce('Copied')
    return true
  } catch {
    announce('The browser does not let this page copy')
    return false
  }
}
