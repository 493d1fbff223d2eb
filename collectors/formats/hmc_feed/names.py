"""The elements of managed objects that are read: the one place that holds their names.

They come from answers of an HMC and of NovaLink in the tests of pypowervm (github.com/powervm/pypowervm), and from its
wrappers `iocard`, `logical_partition`, `base_partition` and `managed_system`.
"""

from __future__ import annotations

PARTITIONS = ("LogicalPartition", "VirtualIOServer")
MANAGED_SYSTEM = "ManagedSystem"
NAMES = {"LogicalPartition": "PartitionName", "VirtualIOServer": "PartitionName", MANAGED_SYSTEM: "SystemName"}

SETTINGS = {
    "partition": (
        "PartitionID",
        "PartitionState",
        "PartitionType",
        "OperatingSystemVersion",
        "CurrentProcessorCompatibilityMode",
        "CurrentMemory",
        "CurrentMaximumMemory",
        "CurrentHasDedicatedProcessors",
        "CurrentSharingMode",
        "CurrentProcessors",
        "CurrentProcessingUnits",
        "CurrentMaximumProcessingUnits",
        "AllocatedVirtualProcessors",
        "CurrentMaximumVirtualProcessors",
        "CurrentUncappedWeight",
        "CurrentSharedProcessorPoolID",
    ),
    "managed_system": (
        "State",
        "MachineType",
        "Model",
        "SerialNumber",
        "SystemFirmware",
        "InstalledSystemProcessorUnits",
        "ConfigurableSystemProcessorUnits",
        "CurrentAvailableSystemProcessorUnits",
        "InstalledSystemMemory",
        "ConfigurableSystemMemory",
        "CurrentAvailableSystemMemory",
    ),
}
"""By section of `config`; elements are searched at any depth, and the first occurrence counts."""

LOGICAL_PORT = r"SRIOV\w*LogicalPort"
PHYSICAL_PORT = r"\w*PhysicalPort"
ADAPTER = "SRIOVAdapter"

ID, LOCATION = "LogicalPortID", "LocationCode"
FUNCTIONAL, LINK_STATUS = "IsFunctional", "LinkStatus"
CAPACITY, SPEED = "ConfiguredCapacity", "CurrentConnectionSpeed"
IN_COLUMNS = (ID, LOCATION, FUNCTIONAL, LINK_STATUS, CAPACITY, SPEED, "Metadata")
