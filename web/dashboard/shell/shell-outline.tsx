import { Loading } from "../../ui/states.tsx";

/** The place of everything, before it is known who is signed in: nothing jumps when it appears. */
export function ShellOutline() {
  return (
    <div class="shell">
      <div class="shell-header" />
      <div class="shell-navigation" />
      <div class="shell-content">
        <Loading />
      </div>
      <div class="shell-status" />
    </div>
  );
}
