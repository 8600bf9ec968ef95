"""Machines of one test: network namespaces on a bridge, whose links can be cut."""

import os
import subprocess
import sys

PREFIX = "10.77.0."
GATEWAY = PREFIX + "1"  # this process
PRIVATE = "ENTITLED_FAULTS_PRIVATE"


def enter_private_namespaces():
    """Runs this program again with separate networks, mounts and processes, which all end with it. Needs root."""
    if PRIVATE in os.environ:
        return
    if os.geteuid() != 0:
        sys.exit("tools/replicas needs root, for network namespaces")
    namespaces = ("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
    # The shell is the first process: it waits for killed ones that lost their parent, and its end ends all.
    shell = ("bash", "-c", '"$0" "$@"; exit $?')
    os.execvpe("unshare", [*namespaces, *shell, sys.executable, *sys.argv], os.environ | {PRIVATE: "yes"})


def run(*command):
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)


class Network:
    """The bridge. This process reaches every machine, and every machine this process."""

    def __init__(self):
        os.makedirs("/run/netns", exist_ok=True)
        run("mount", "-t", "tmpfs", "none", "/run/netns")
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "bridge", "type", "bridge")
        run("ip", "address", "add", GATEWAY + "/24", "dev", "bridge")
        run("ip", "link", "set", "bridge", "up")
        self.count = 1

    def machine(self, name):
        self.count += 1
        return Machine(name, PREFIX + str(self.count), self.count)


class Machine:
    """A network namespace with one link to the bridge."""

    def __init__(self, name, address, number):
        self.name, self.address, self.link = name, address, f"link{number}"
        run("ip", "netns", "add", name)
        run("ip", "link", "add", self.link, "type", "veth", "peer", "name", "eth0", "netns", name)
        run("ip", "link", "set", self.link, "master", "bridge", "up")
        run("ip", "-n", name, "address", "add", address + "/24", "dev", "eth0")
        run("ip", "-n", name, "link", "set", "eth0", "up")
        run("ip", "-n", name, "link", "set", "lo", "up")

    def start(self, command, log, **options):
        """Starts a program on the machine; its output goes to the file `log`."""
        with open(log, "ab") as stream:
            options = {"stdout": stream, "stderr": stream, "stdin": subprocess.DEVNULL, **options}
            within = ["nsenter", f"--net=/run/netns/{self.name}"]
            return subprocess.Popen([*within, *(str(part) for part in command)], **options)

    def processes(self):
        """The ids of the processes on the machine."""
        listed = subprocess.run(["ip", "netns", "pids", self.name], capture_output=True, text=True, check=True)
        return [int(id) for id in listed.stdout.split()]

    def cut(self):
        """Packets from and to the machine are lost."""
        run("ip", "link", "set", self.link, "down")

    def join(self):
        run("ip", "link", "set", self.link, "up")
